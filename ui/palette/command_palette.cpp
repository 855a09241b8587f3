// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/palette/command_palette.h"

#include <QCoreApplication>
#include <QKeyEvent>
#include <QLabel>
#include <QLineEdit>
#include <QListView>
#include <QPainter>
#include <QStyledItemDelegate>
#include <QVBoxLayout>
#include <algorithm>
#include <utility>

#include "ui/theme.h"
#include "ui/widgets/key_values.h"

namespace tessera::ui {
namespace {

constexpr int kWidth = 620;
constexpr int kHitRowHeight = 30;
constexpr int kRows = 11;
constexpr int kPaletteTop = 72;  // below the window's toolbar

QString kindName(PaletteItem::Kind kind) {
  switch (kind) {
    case PaletteItem::Kind::Action:
      return CommandPalette::tr("action");
    case PaletteItem::Kind::Gpu:
      return CommandPalette::tr("GPU");
    case PaletteItem::Kind::Node:
      return CommandPalette::tr("node");
    case PaletteItem::Kind::Job:
      return CommandPalette::tr("job");
    case PaletteItem::Kind::Change:
      return CommandPalette::tr("change");
    case PaletteItem::Kind::Event:
      return CommandPalette::tr("event");
  }
  return {};
}

}  // namespace

class CommandPalette::Model : public QAbstractListModel {
 public:
  explicit Model(CommandPalette& palette) : QAbstractListModel(&palette), m_palette(palette) {}
  void set(std::vector<PaletteHit> hits) {
    beginResetModel();
    m_palette.m_hits = std::move(hits);
    endResetModel();
  }
  int rowCount(const QModelIndex& parent = {}) const override {
    return parent.isValid() ? 0 : static_cast<int>(m_palette.m_hits.size());
  }
  QVariant data(const QModelIndex& index, int role) const override {
    const PaletteItem& item = *m_palette.m_hits[static_cast<std::size_t>(index.row())].item;
    if (role == Qt::DisplayRole) return item.title;
    if (role == Qt::ToolTipRole) return item.blocked.isEmpty() ? item.detail : item.blocked;
    if (role == Qt::AccessibleTextRole) {
      return QStringList{item.title, item.detail, kindName(item.kind)}.join(QStringLiteral(", "));
    }
    return {};
  }

 private:
  CommandPalette& m_palette;
};

class CommandPalette::Delegate : public QStyledItemDelegate {
 public:
  explicit Delegate(CommandPalette& palette) : QStyledItemDelegate(&palette), m_palette(palette) {}

  QSize sizeHint(const QStyleOptionViewItem&, const QModelIndex&) const override {
    return {kWidth, kHitRowHeight};
  }

  void paint(QPainter* painter, const QStyleOptionViewItem& option,
             const QModelIndex& index) const override {
    const Theme& theme = Theme::current();
    const PaletteHit& hit = m_palette.m_hits[static_cast<std::size_t>(index.row())];
    const PaletteItem& item = *hit.item;
    painter->save();
    painter->setRenderHint(QPainter::Antialiasing);
    if (option.state.testFlag(QStyle::State_Selected)) {
      painter->setPen(Qt::NoPen);
      painter->setBrush(theme.accentSoft);
      painter->drawRoundedRect(QRectF(option.rect).adjusted(2, 1, -2, -1), 6, 6);
    }
    QRect area = option.rect.adjusted(14, 0, -14, 0);
    painter->setFont(uiFont(10.5));
    painter->setPen(theme.dim);
    constexpr int kKindWidth = 52;
    painter->drawText(area, Qt::AlignRight | Qt::AlignVCenter, kindName(item.kind));
    area.setRight(area.right() - kKindWidth);
    if (!item.keys.isEmpty()) {
      const int width = painter->fontMetrics().horizontalAdvance(item.keys) + 12;
      const QRectF key(area.right() - width, area.center().y() - 9, width, 19);
      painter->setPen(theme.line);
      painter->setBrush(theme.cell);
      painter->drawRoundedRect(key.adjusted(0.5, 0.5, -0.5, -0.5), 4, 4);
      painter->setPen(theme.dim);
      painter->drawText(key, Qt::AlignCenter, item.keys);
      area.setRight(area.right() - width - 10);
    }

    // The title, with the matching letters in bold.
    const QColor ink = item.blocked.isEmpty() ? theme.text : theme.faint;
    const QFont normal = uiFont(12.5), strong = uiFont(12.5, 700);
    qreal x = area.left();
    painter->setPen(ink);
    const qreal baseline = area.center().y() + QFontMetricsF(normal).ascent() / 2 -
                           QFontMetricsF(normal).descent() / 2;
    for (qsizetype i = 0; i < item.title.size();) {
      const bool bold = hit.match.at.contains(i);
      qsizetype end = i + 1;
      while (end < item.title.size() && hit.match.at.contains(end) == bold) ++end;
      const QString run = item.title.mid(i, end - i);
      painter->setFont(bold ? strong : normal);
      painter->setPen(bold ? theme.accent : ink);
      const QString drawn = painter->fontMetrics().elidedText(run, Qt::ElideRight,
                                                              static_cast<int>(area.right() - x));
      painter->drawText(QPointF(x, baseline), drawn);
      x += QFontMetricsF(painter->font()).horizontalAdvance(run);
      i = end;
    }
    const QString& detail = item.blocked.isEmpty() ? item.detail : item.blocked;
    if (const int room = area.right() - static_cast<int>(x) - 12; room > 40 && !detail.isEmpty()) {
      painter->setFont(uiFont(11.5));
      painter->setPen(theme.dim);
      painter->drawText(QPointF(x + 12, baseline),
                        painter->fontMetrics().elidedText(detail, Qt::ElideRight, room));
    }
    painter->restore();
  }

 private:
  CommandPalette& m_palette;
};

CommandPalette::CommandPalette(QWidget* window)
    : QFrame(window, Qt::Popup),
      m_model(new Model(*this)),
      m_edit(new QLineEdit(this)),
      m_list(new QListView(this)),
      m_note(new QLabel(this)) {
  setObjectName(QStringLiteral("palette"));
  setAccessibleName(tr("Go to"));
  setFrameShape(QFrame::StyledPanel);
  m_edit->setPlaceholderText(tr("An action, a GPU, a node, a job, a change, an event"));
  m_edit->setAccessibleName(tr("Search"));
  m_edit->setMinimumHeight(34);
  m_edit->installEventFilter(this);
  m_list->setModel(m_model);
  m_list->setItemDelegate(new Delegate(*this));
  m_list->setAccessibleName(tr("Results"));
  m_list->setUniformItemSizes(true);
  m_list->setFocusPolicy(Qt::NoFocus);
  m_list->setMouseTracking(true);
  m_list->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
  m_list->setFixedHeight(kRows * kHitRowHeight);
  setRole(m_note, QStringLiteral("caption"));
  auto* column = new QVBoxLayout(this);
  column->setContentsMargins(8, 8, 8, 8);
  column->setSpacing(6);
  column->addWidget(m_edit);
  column->addWidget(m_list);
  column->addWidget(m_note);
  setFixedWidth(kWidth);
  connect(m_edit, &QLineEdit::textChanged, this, &CommandPalette::search);
  connect(m_edit, &QLineEdit::returnPressed, this, &CommandPalette::runCurrent);
  connect(m_list, &QListView::clicked, this, &CommandPalette::runCurrent);
  connect(m_list, &QListView::entered, m_list, &QListView::setCurrentIndex);
}

CommandPalette::~CommandPalette() = default;

void CommandPalette::ask(std::vector<PaletteItem> items) {
  m_model->set({});
  m_items = std::move(items);
  m_edit->clear();
  search({});
  if (const QWidget* window = parentWidget()) {
    adjustSize();
    move(window->mapToGlobal(QPoint((window->width() - width()) / 2, kPaletteTop)));
  }
  show();
  m_edit->setFocus(Qt::PopupFocusReason);
}

void CommandPalette::search(const QString& typed) {
  m_model->set(findItems(m_items, typed, kMaxHits));
  m_list->setCurrentIndex(m_model->index(0));
  m_list->scrollToTop();
  m_note->setText(m_hits.empty()
                      ? tr("No results.")
                      : tr("Only GPUs: g 5 · nodes: n 1 · jobs: j · changes: h · events: e · "
                           "actions: a"));
}

void CommandPalette::runCurrent() {
  const int row = m_list->currentIndex().row();
  if (row < 0 || row >= static_cast<int>(m_hits.size())) return;
  const PaletteItem& item = *m_hits[static_cast<std::size_t>(row)].item;
  if (!item.blocked.isEmpty()) {
    m_note->setText(item.blocked);
    return;
  }
  const auto run = item.run;
  hide();
  if (run) run();
}

bool CommandPalette::eventFilter(QObject* watched, QEvent* event) {
  if (watched == m_edit && event->type() == QEvent::KeyPress) {
    auto* key = static_cast<QKeyEvent*>(event);
    switch (key->key()) {
      case Qt::Key_Up:
      case Qt::Key_Down:
      case Qt::Key_PageUp:
      case Qt::Key_PageDown:
        QCoreApplication::sendEvent(m_list, event);
        return true;
      case Qt::Key_Escape:
        hide();
        return true;
      default:
        break;
    }
  }
  return QFrame::eventFilter(watched, event);
}

}  // namespace tessera::ui
