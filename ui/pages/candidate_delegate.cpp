// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/pages/candidate_delegate.h"

#include <QPainter>

#include "ui/models/candidate_table_model.h"
#include "ui/theme.h"

namespace tessera::ui {

namespace {

QRect secondLineOf(const QRect& row) { return row.adjusted(4, row.height() / 2 - 1, -2, -2); }

}  // namespace

QString CandidateDelegate::optionsText(const QModelIndex& index) {
  QStringList parts;
  const QModelIndex options = index.siblingAtColumn(CandidateTableModel::OptionsColumn);
  for (const QString& part :
       {options.data().toString(),
        index.data(CandidateTableModel::CurrentRole).toBool() ? tr("now") : QString(),
        index.data(CandidateTableModel::MeritsRole).toString()}) {
    if (!part.isEmpty()) parts << part;
  }
  return parts.join(QLatin1Char(' '));
}

void CandidateDelegate::paint(QPainter* painter, const QStyleOptionViewItem& option,
                              const QModelIndex& index) const {
  const Theme& theme = Theme::current();
  if (index.data(CandidateTableModel::HoveredRole).toBool() &&
      !option.state.testFlag(QStyle::State_Selected))
    painter->fillRect(option.rect, theme.soft);
  QStyledItemDelegate::paint(painter, option, index);
  if (m_twoLines && index.column() == CandidateTableModel::MeshColumn) {
    painter->save();
    painter->setFont(uiFont(11));
    painter->setPen(theme.dim);
    const QRect room = secondLineOf(option.rect);
    painter->drawText(
        room, Qt::AlignLeft | Qt::AlignVCenter,
        painter->fontMetrics().elidedText(optionsText(index), Qt::ElideRight, room.width()));
    painter->restore();
  }
  if (index.column() != CandidateTableModel::MarkColumn) return;
  painter->save();
  painter->setRenderHint(QPainter::Antialiasing);
  painter->translate(QRectF(option.rect).center());
  switch (static_cast<Fit>(index.data(CandidateTableModel::FitRole).toInt())) {
    case Fit::Fits:
      painter->setPen(Qt::NoPen);
      painter->setBrush(theme.ok);
      painter->drawEllipse(QPointF(0, 0), 3.8, 3.8);
      break;
    case Fit::Tight: {
      painter->setPen(Qt::NoPen);
      painter->setBrush(theme.warn);
      const QPointF corners[] = {{-4.6, 3.6}, {4.6, 3.6}, {0, -4.4}};
      painter->drawPolygon(corners, 3);
      break;
    }
    case Fit::TooLarge:
      painter->setPen(QPen(theme.bad, 1.8, Qt::SolidLine, Qt::RoundCap));
      painter->drawLine(QPointF(-3.2, -3.2), QPointF(3.2, 3.2));
      painter->drawLine(QPointF(-3.2, 3.2), QPointF(3.2, -3.2));
      break;
  }
  painter->restore();
}

void CandidateDelegate::initStyleOption(QStyleOptionViewItem* option,
                                        const QModelIndex& index) const {
  QStyledItemDelegate::initStyleOption(option, index);
  const Theme& theme = Theme::current();
  const bool isMesh = index.column() == CandidateTableModel::MeshColumn;
  const bool best = index.data(CandidateTableModel::RecommendedRole).toBool();
  option->font = uiFont(12, isMesh ? (best ? QFont::DemiBold : QFont::Medium) : QFont::Normal);
  QColor color = isMesh ? theme.text : theme.dim;
  if (isMesh && best) color = theme.accent;
  option->palette.setColor(QPalette::Text, color);
  option->palette.setColor(QPalette::HighlightedText, isMesh ? color : theme.text);
  if (index.column() == CandidateTableModel::OptionsColumn) {
    option->font = uiFont(11);
    option->text = optionsText(index);
  }
  if (m_twoLines && isMesh && !optionsText(index).isEmpty()) {
    option->displayAlignment = Qt::AlignLeft | Qt::AlignTop;
  }
}

}  // namespace tessera::ui
