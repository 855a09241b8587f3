// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

/// \file
/// The guide in a window of its own: contents on the left, a page on the right, a search.

#include <QTextBrowser>
#include <QWidget>

class QLineEdit;
class QToolButton;
class QTreeWidget;

namespace tessera::ui {

/// Shows guide pages: its links are "page.md", "page.md#heading" and "#heading".
class GuideBrowser : public QTextBrowser {
  Q_OBJECT

 public:
  explicit GuideBrowser(QWidget* parent = nullptr);
  /// Makes the page anew, in the colours of the theme.
  void restyle();
  QVariant loadResource(int type, const QUrl& name) override;

 private:
  QString m_shown;  // page whose document is styled
};

class HelpWindow : public QWidget {
  Q_OBJECT

 public:
  explicit HelpWindow(QWidget* parent = nullptr);
  /// `page` may have an anchor: "errors.md#e-lost".
  void showPage(const QString& page);
  /// Name of the page shown.
  QString page() const;
  GuideBrowser* browser() const { return m_browser; }
  QTreeWidget* contents() const { return m_contents; }
  QLineEdit* searchEdit() const { return m_search; }

 protected:
  void changeEvent(QEvent* event) override;

 private:
  void fillContents();
  void filter(const QString& text);
  void markCurrent(const QUrl& shown);

  QTreeWidget* m_contents;
  GuideBrowser* m_browser;
  QLineEdit* m_search;
  QToolButton *m_back, *m_forward;
  bool m_silent = false;
};

}  // namespace tessera::ui
