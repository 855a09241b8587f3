// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/settings/layout_keeper.h"

#include <QDockWidget>
#include <QEvent>
#include <QGuiApplication>
#include <QHeaderView>
#include <QMainWindow>
#include <QScreen>
#include <QSplitter>
#include <QTableView>
#include <QTreeView>
#include <algorithm>
#include <utility>

#include "ui/settings/settings.h"

namespace tessera::ui {
namespace {

const QString kWindow = QStringLiteral("layout/window");
const QString kDocks = QStringLiteral("layout/docks");
constexpr int kCaptureDelayMs = 200;

QString nameOf(const QHeaderView* header) {
  return QStringLiteral("layout/columns.") + header->parent()->objectName();
}
QString nameOf(const QSplitter* splitter) {
  return QStringLiteral("layout/splitter.") + splitter->objectName();
}

QList<QSplitter*> splitters(const QMainWindow& window) {
  QList<QSplitter*> named;
  for (auto* splitter : window.findChildren<QSplitter*>()) {
    if (!splitter->objectName().isEmpty()) named << splitter;
  }
  return named;
}

}  // namespace

QRect onScreen(QRect wanted, const QList<QRect>& screens, QSize least) {
  if (screens.isEmpty()) return wanted;
  const auto area = [&](const QRect& screen) {
    const QRect common = screen.intersected(wanted);
    return common.isEmpty() ? 0 : common.width() * common.height();
  };
  const QRect screen =
      *std::max_element(screens.begin(), screens.end(),
                        [&](const QRect& a, const QRect& b) { return area(a) < area(b); });
  // On a screen smaller than the minimum, the window extends beyond its right and bottom edges.
  const QSize size = wanted.size().boundedTo(screen.size()).expandedTo(least);
  const bool away = area(screen) == 0;
  wanted.setSize(size);
  if (away) {
    wanted.moveCenter(screen.center());
    return wanted;
  }
  const auto within = [](int at, int first, int room) {
    return std::clamp(at, first, std::max(first, first + room));
  };
  wanted.moveLeft(within(wanted.left(), screen.left(), screen.width() - size.width()));
  wanted.moveTop(within(wanted.top(), screen.top(), screen.height() - size.height()));
  return wanted;
}

QSize usualSize(QSize available, QSize least) {
  constexpr QSize kUsual(1440, 900), kFrame(4, 40);  // the frame that a window manager adds
  return kUsual.boundedTo(available - kFrame).expandedTo(least);
}

LayoutKeeper::LayoutKeeper(QMainWindow& window, Settings& settings, int version)
    : QObject(&window), m_window(window), m_settings(settings), m_version(version) {}

QList<QHeaderView*> LayoutKeeper::headers() const {
  QList<QHeaderView*> named;
  for (auto* table : m_window.findChildren<QTableView*>()) {
    if (!table->objectName().isEmpty()) named << table->horizontalHeader();
  }
  for (auto* tree : m_window.findChildren<QTreeView*>()) {
    if (!tree->objectName().isEmpty()) named << tree->header();
  }
  return named;
}

bool LayoutKeeper::restore() {
  for (QSplitter* splitter : splitters(m_window)) {
    const QByteArray state = m_settings.blob(nameOf(splitter));
    if (!state.isEmpty()) splitter->restoreState(state);
  }
  for (QHeaderView* header : headers()) {
    const QString text = m_settings.entry(nameOf(header));
    const qsizetype colon = text.indexOf(QLatin1Char(':'));
    if (colon < 0 || text.left(colon).toInt() != header->count()) continue;
    header->restoreState(QByteArray::fromBase64(text.mid(colon + 1).toLatin1()));
  }
  const QStringList place = m_settings.entry(kWindow).split(QLatin1Char(','));
  const bool known = place.size() == 5 && place[2].toInt() > 0 && place[3].toInt() > 0;
  if (known) {
    QList<QRect> screens;
    for (const QScreen* screen : QGuiApplication::screens()) screens << screen->availableGeometry();
    const QRect wanted(place[0].toInt(), place[1].toInt(), place[2].toInt(), place[3].toInt());
    m_window.setGeometry(onScreen(wanted, screens, m_window.minimumSize()));
    if (place[4] == QLatin1String("true")) {
      m_window.setWindowState(m_window.windowState() | Qt::WindowMaximized);
    }
  }
  if (const QByteArray docks = m_settings.blob(kDocks); !docks.isEmpty()) {
    m_window.restoreState(docks, m_version);
  }
  return known;
}

void LayoutKeeper::watch() {
  if (std::exchange(m_watching, true)) return;
  m_window.installEventFilter(this);
  for (auto* dock : m_window.findChildren<QDockWidget*>()) {
    dock->installEventFilter(this);
    connect(dock, &QDockWidget::visibilityChanged, this, &LayoutKeeper::schedule);
  }
  for (QSplitter* splitter : splitters(m_window)) {
    connect(splitter, &QSplitter::splitterMoved, this, &LayoutKeeper::schedule);
  }
  for (QHeaderView* header : headers()) {
    connect(header, &QHeaderView::sectionResized, this, &LayoutKeeper::schedule);
    connect(header, &QHeaderView::sectionMoved, this, &LayoutKeeper::schedule);
    connect(header, &QHeaderView::sortIndicatorChanged, this, &LayoutKeeper::schedule);
  }
}

bool LayoutKeeper::eventFilter(QObject* watched, QEvent* event) {
  switch (event->type()) {
    case QEvent::Move:
    case QEvent::Resize:
    case QEvent::WindowStateChange:
      schedule();
      break;
    default:
      break;
  }
  return QObject::eventFilter(watched, event);
}

void LayoutKeeper::schedule() {
  if (std::exchange(m_scheduled, true)) return;
  QTimer::singleShot(kCaptureDelayMs, this, [this] {
    if (std::exchange(m_scheduled, false)) capture();
  });
}

void LayoutKeeper::capture() {
  m_scheduled = false;
  if (!m_window.isVisible()) return;
  if (!m_window.isMinimized()) {
    const bool maximized = m_window.isMaximized();
    const QRect place = maximized ? m_window.normalGeometry() : m_window.geometry();
    m_settings.setEntry(kWindow,
                        QStringLiteral("%1,%2,%3,%4,%5")
                            .arg(place.x())
                            .arg(place.y())
                            .arg(place.width())
                            .arg(place.height())
                            .arg(maximized ? QLatin1String("true") : QLatin1String("false")));
  }
  m_settings.setBlob(kDocks, m_window.saveState(m_version));
  for (const QSplitter* splitter : splitters(m_window)) {
    m_settings.setBlob(nameOf(splitter), splitter->saveState());
  }
  for (const QHeaderView* header : headers()) {
    if (header->count() == 0) continue;
    m_settings.setEntry(nameOf(header), QString::number(header->count()) + QLatin1Char(':') +
                                            QString::fromLatin1(header->saveState().toBase64()));
  }
}

void LayoutKeeper::forget() {
  for (const QString& key : m_settings.keysBelow(QStringLiteral("layout"))) {
    m_settings.removeEntry(key);
  }
  m_scheduled = false;
}

}  // namespace tessera::ui
