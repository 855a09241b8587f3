// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/help/help_window.h"

#include <QDesktopServices>
#include <QEvent>
#include <QHBoxLayout>
#include <QHeaderView>
#include <QKeyEvent>
#include <QLabel>
#include <QLineEdit>
#include <QScrollBar>
#include <QShortcut>
#include <QToolButton>
#include <QTreeWidget>
#include <QUrl>
#include <QVBoxLayout>
#include <utility>

#include "ui/dialogs/dialog.h"
#include "ui/help/guide.h"
#include "ui/icons.h"
#include "ui/language.h"
#include "ui/theme.h"
#include "ui/widgets/key_values.h"
#include "ui/widgets/surface.h"

namespace tessera::ui {
namespace {
constexpr int kContentsWidth = 248;
}  // namespace

GuideBrowser::GuideBrowser(QWidget* parent) : QTextBrowser(parent) {
  // The base class has already filled the document, in its default style.
  connect(this, &QTextBrowser::sourceChanged, this, [this](const QUrl& url) {
    if (std::exchange(m_shown, url.path()) != url.path()) restyle();
    if (url.hasFragment()) scrollToAnchor(url.fragment());
  });
}

void GuideBrowser::restyle() { showGuide(*document(), guideText(m_shown)); }

QVariant GuideBrowser::loadResource(int type, const QUrl& name) {
  if (type == QTextDocument::ImageResource) return guidePicture(name.path(), devicePixelRatioF());
  const QString text = guideText(name.path());
  return text.isEmpty() ? QTextBrowser::loadResource(type, name) : QVariant(text);
}

HelpWindow::HelpWindow(QWidget* parent)
    : QWidget(parent, Qt::Window),
      m_contents(new QTreeWidget(this)),
      m_browser(new GuideBrowser(this)),
      m_search(new QLineEdit(this)),
      m_back(new QToolButton(this)),
      m_forward(new QToolButton(this)),
      m_languageNote(new QLabel(tr("This page is in English."), this)) {
  setWindowTitle(tr("Tessera guide"));
  auto* side = new Surface(Surface::Tone::Panel, this);
  side->setEdge(Qt::RightEdge);
  side->setFixedWidth(kContentsWidth);
  m_search->setPlaceholderText(tr("Search the guide"));
  m_search->setAccessibleName(tr("Search the guide"));
  m_search->setClearButtonEnabled(true);
  m_contents->setHeaderHidden(true);
  m_contents->setAccessibleName(tr("Contents"));
  m_contents->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
  m_contents->setIndentation(14);
  m_contents->setExpandsOnDoubleClick(false);
  m_back->setText(tr("Back"));
  m_back->setAccessibleName(tr("Previous page"));
  m_forward->setText(tr("Forward"));
  m_forward->setAccessibleName(tr("Next page"));
  m_browser->setAccessibleName(tr("Page of the guide"));
  m_browser->setOpenLinks(true);
  m_browser->setOpenExternalLinks(true);
  m_browser->setFrameShape(QFrame::NoFrame);
  m_browser->setStyleSheet(QStringLiteral("QTextBrowser { border: none; border-radius: 0px; }"));

  auto* history = new QHBoxLayout;
  history->addWidget(m_back);
  history->addWidget(m_forward);
  history->addStretch();
  auto* column = new QVBoxLayout(side);
  column->setContentsMargins(10, 10, 10, 10);
  column->setSpacing(8);
  column->addLayout(history);
  column->addWidget(m_search);
  column->addWidget(m_contents, 1);
  m_languageNote->setObjectName(QStringLiteral("languageNote"));
  m_languageNote->setWordWrap(true);
  setRole(m_languageNote, QStringLiteral("hint"));
  column->addWidget(m_languageNote);
  auto* row = new QHBoxLayout(this);
  row->setContentsMargins(0, 0, 0, 0);
  row->setSpacing(0);
  row->addWidget(side);
  row->addWidget(m_browser, 1);
  resize(1020, 760);

  connect(m_contents, &QTreeWidget::currentItemChanged, this, [this](QTreeWidgetItem* item) {
    if (item != nullptr && !m_silent) showPage(item->data(0, Qt::UserRole).toString());
  });
  connect(m_search, &QLineEdit::textChanged, this, &HelpWindow::filter);
  connect(m_search, &QLineEdit::returnPressed, this, [this] {
    if (!m_browser->find(m_search->text())) {
      m_browser->moveCursor(QTextCursor::Start);
      m_browser->find(m_search->text());
    }
  });
  connect(m_back, &QToolButton::clicked, m_browser, &QTextBrowser::backward);
  connect(m_forward, &QToolButton::clicked, m_browser, &QTextBrowser::forward);
  connect(m_browser, &QTextBrowser::backwardAvailable, m_back, &QWidget::setEnabled);
  connect(m_browser, &QTextBrowser::forwardAvailable, m_forward, &QWidget::setEnabled);
  connect(m_browser, &QTextBrowser::sourceChanged, this, &HelpWindow::markCurrent);
  connect(new QShortcut(QKeySequence(Qt::Key_Escape), this), &QShortcut::activated, this,
          &QWidget::close);
  connect(new QShortcut(QKeySequence::Find, this), &QShortcut::activated, m_search,
          [this] { m_search->setFocus(); });
  m_back->setEnabled(false);
  m_forward->setEnabled(false);
  fillContents();
  showPage(QStringLiteral("index.md"));
}

void HelpWindow::fillContents() {
  for (const GuidePage& page : guidePages()) {
    auto* item = new QTreeWidgetItem(m_contents, QStringList{page.title});
    item->setData(0, Qt::UserRole, page.name);
    if (page.name == QLatin1String("index.md")) continue;
    for (const GuideHeading& heading : guideHeadings(guideText(page.name))) {
      if (heading.level != 2) continue;
      auto* child = new QTreeWidgetItem(item, QStringList{heading.text});
      child->setData(0, Qt::UserRole,
                     QString(page.name + QLatin1Char('#') + guideAnchor(heading.text)));
    }
  }
}

void HelpWindow::filter(const QString& text) {
  for (int i = 0; i < m_contents->topLevelItemCount(); ++i) {
    QTreeWidgetItem* item = m_contents->topLevelItem(i);
    const QString page = item->data(0, Qt::UserRole).toString();
    item->setHidden(!text.isEmpty() && !guideText(page).contains(text, Qt::CaseInsensitive));
  }
}

void HelpWindow::showPage(const QString& page) { m_browser->setSource(QUrl(page)); }

QString HelpWindow::page() const { return m_browser->source().path(); }

void HelpWindow::markCurrent(const QUrl& shown) {
  m_silent = true;
  m_languageNote->setVisible(!isGuideTranslated(shown.path(), panelLanguage()));
  const QString whole = shown.toString();
  for (int i = 0; i < m_contents->topLevelItemCount(); ++i) {
    QTreeWidgetItem* item = m_contents->topLevelItem(i);
    const bool isPage = item->data(0, Qt::UserRole).toString() == shown.path();
    item->setExpanded(isPage);
    if (!isPage) continue;
    QTreeWidgetItem* marked = item;
    for (int child = 0; child < item->childCount(); ++child) {
      if (item->child(child)->data(0, Qt::UserRole).toString() == whole) {
        marked = item->child(child);
      }
    }
    m_contents->setCurrentItem(marked);
  }
  m_silent = false;
}

void HelpWindow::keyPressEvent(QKeyEvent* event) {
  if (!pressFocusedButton(*this, *event)) QWidget::keyPressEvent(event);
}

void HelpWindow::changeEvent(QEvent* event) {
  // The document contains the colours, so it is rendered again, at the same scroll position.
  if (event->type() == QEvent::PaletteChange && m_browser != nullptr) {
    const int at = m_browser->verticalScrollBar()->value();
    m_browser->restyle();
    m_browser->verticalScrollBar()->setValue(at);
  }
  QWidget::changeEvent(event);
}

}  // namespace tessera::ui
