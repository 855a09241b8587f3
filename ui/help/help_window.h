// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

/// \file
/// The window of the guide: contents on the left, a page on the right, and a search.

#include <QTextBrowser>
#include <QWidget>

class QLabel;
class QLineEdit;
class QToolButton;
class QTreeWidget;

namespace tessera::ui {

/// Shows guide pages. Links have the form "page.md", "page.md#heading" or "#heading".
class GuideBrowser : public QTextBrowser {
  Q_OBJECT

 public:
  explicit GuideBrowser(QWidget* parent = nullptr);
  /// Renders the page again in the colours of the theme.
  void restyle();
  QVariant loadResource(int type, const QUrl& name) override;

 private:
  QString m_shown;  // the page of the current document
};

class HelpWindow : public QWidget {
  Q_OBJECT

 public:
  explicit HelpWindow(QWidget* parent = nullptr);
  /// Shows a page. The name may have an anchor: "errors.md#e-lost".
  void showPage(const QString& page);
  /// The name of the page shown.
  QString page() const;
  GuideBrowser* browser() const { return m_browser; }
  QTreeWidget* contents() const { return m_contents; }
  QLineEdit* searchEdit() const { return m_search; }

 protected:
  void changeEvent(QEvent* event) override;
  void keyPressEvent(QKeyEvent* event) override;

 private:
  void fillContents();
  void filter(const QString& text);
  void markCurrent(const QUrl& shown);

  QTreeWidget* m_contents;
  GuideBrowser* m_browser;
  QLineEdit* m_search;
  QToolButton *m_back, *m_forward;
  QLabel* m_languageNote;  // of a page that is not in the language of the panel
  bool m_silent = false;
};

}  // namespace tessera::ui
