// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/models/candidate_table_model.h"

#include <QStringList>
#include <utility>

#include "ui/format.h"

namespace tessera::ui {
namespace {

QString fitWords(Fit fit) {
  switch (fit) {
    case Fit::Fits:
      return CandidateTableModel::tr("fits");
    case Fit::Tight:
      return CandidateTableModel::tr("fits, but leaves less than 10 %");
    case Fit::TooLarge:
      return CandidateTableModel::tr("does not fit");
  }
  Q_UNREACHABLE();
}

QString shortOptions(const engine::StepOptions& options) {
  QStringList parts;
  if (options.zero) parts << CandidateTableModel::tr("ZeRO");
  if (options.micro_batch > 0) parts << CandidateTableModel::tr("mb %1").arg(options.micro_batch);
  return parts.join(QLatin1Char(' '));
}

}  // namespace

Fit fitOf(const engine::Candidate& candidate) {
  if (!candidate.fits()) return Fit::TooLarge;
  const bool tight = candidate.capacity - candidate.peak_bytes < candidate.capacity / 10;
  return tight ? Fit::Tight : Fit::Fits;
}

CandidateTableModel::CandidateTableModel(QObject* parent) : QAbstractTableModel(parent) {}

void CandidateTableModel::setCandidates(std::vector<engine::Candidate> candidates,
                                        std::function<std::optional<double>(double)> tokens) {
  m_tokens = std::move(tokens);
  if (candidates == m_candidates) return;
  beginResetModel();
  m_candidates = std::move(candidates);
  m_hovered.reset();
  endResetModel();
}

void CandidateTableModel::setHovered(std::optional<int> row) {
  if (row && (*row < 0 || *row >= rowCount())) row.reset();
  const std::optional<int> before = std::exchange(m_hovered, row);
  if (before == row) return;
  for (const auto& each : {before, row}) {
    if (each) emit dataChanged(index(*each, 0), index(*each, NUM_COLUMNS - 1), {HoveredRole});
  }
}

int CandidateTableModel::rowCount(const QModelIndex& parent) const {
  return parent.isValid() ? 0 : static_cast<int>(m_candidates.size());
}

int CandidateTableModel::columnCount(const QModelIndex& parent) const {
  return parent.isValid() ? 0 : NUM_COLUMNS;
}

QString CandidateTableModel::text(const engine::Candidate& candidate, int column) const {
  switch (static_cast<Columns>(column)) {
    case MarkColumn:
      return {};
    case MeshColumn:
      return format::shape(candidate.mesh);
    case OptionsColumn:
      return shortOptions(candidate.options);
    case StepColumn:
      return candidate.step_seconds > 0 ? format::seconds(candidate.step_seconds)
                                        : format::unknown();
    case TokensColumn: {
      const auto tokens = m_tokens ? m_tokens(candidate.step_seconds) : std::nullopt;
      return tokens ? format::shortCount(*tokens) : format::unknown();
    }
    case MovesColumn:
      return candidate.current ? tr("nothing") : format::bytes(candidate.moved_bytes);
    case PauseColumn:
      return candidate.current             ? format::unknown()
             : candidate.pause_seconds > 0 ? format::seconds(candidate.pause_seconds)
                                           : format::unknown();
    case PeakColumn:
      return candidate.capacity > 0 ? format::bytesOf(candidate.peak_bytes, candidate.capacity)
                                    : format::unknown();
    case NUM_COLUMNS:
      break;
  }
  return {};
}

QString CandidateTableModel::describe(int row) const {
  const engine::Candidate& candidate = m_candidates[static_cast<std::size_t>(row)];
  QStringList parts{format::shape(candidate.mesh)};
  if (const QString options = shortOptions(candidate.options); !options.isEmpty()) parts << options;
  if (candidate.current) parts << tr("current");
  if (candidate.recommended) parts << tr("recommended");
  parts << tr("step ≈ %1").arg(text(candidate, StepColumn));
  if (const QString tokens = text(candidate, TokensColumn); tokens != format::unknown()) {
    parts << tr("≈ %1 tokens/s").arg(tokens);
  }
  if (!candidate.current) {
    parts << tr("moves %1, pause ≈ %2")
                 .arg(text(candidate, MovesColumn), text(candidate, PauseColumn));
  }
  parts << tr("peak %1, %2").arg(text(candidate, PeakColumn), fitWords(fitOf(candidate)));
  if (!candidate.idle.empty()) {
    parts << tr("%1 unused").arg(format::gpus(static_cast<std::int64_t>(candidate.idle.size())));
  }
  return parts.join(QStringLiteral(" · "));
}

QVariant CandidateTableModel::data(const QModelIndex& index, int role) const {
  if (!index.isValid()) return {};
  const engine::Candidate& candidate = m_candidates[static_cast<std::size_t>(index.row())];
  switch (role) {
    case Qt::DisplayRole:
      return text(candidate, index.column());
    case Qt::TextAlignmentRole:
      return QVariant::fromValue(Qt::Alignment(
          (index.column() >= StepColumn ? Qt::AlignRight : Qt::AlignLeft) | Qt::AlignVCenter));
    case Qt::ToolTipRole:
      return describe(index.row());
    case Qt::AccessibleTextRole:
      if (index.column() == MarkColumn) return fitWords(fitOf(candidate));
      if (index.column() == MeshColumn) return describe(index.row());
      return text(candidate, index.column());
    case FitRole:
      return static_cast<int>(fitOf(candidate));
    case CurrentRole:
      return candidate.current;
    case RecommendedRole:
      return candidate.recommended;
    case HoveredRole:
      return m_hovered == index.row();
    default:
      return {};
  }
}

QVariant CandidateTableModel::headerData(int section, Qt::Orientation orientation, int role) const {
  if (orientation != Qt::Horizontal) return {};
  if (role == Qt::TextAlignmentRole) {
    return QVariant::fromValue(
        Qt::Alignment((section >= StepColumn ? Qt::AlignRight : Qt::AlignLeft) | Qt::AlignVCenter));
  }
  if (role == Qt::ToolTipRole) {
    switch (static_cast<Columns>(section)) {
      case StepColumn:
        return tr("Seconds per step, estimated");
      case TokensColumn:
        return tr("Tokens per second, estimated");
      case MovesColumn:
        return tr("Bytes that the change would move");
      case PauseColumn:
        return tr("Pause of the job, estimated");
      case PeakColumn:
        return tr("Memory of the fullest GPU during the change");
      default:
        return {};
    }
  }
  if (role != Qt::DisplayRole) return {};
  switch (static_cast<Columns>(section)) {
    case MarkColumn:
      return QString();
    case MeshColumn:
      return tr("dp × tp × pp");
    case OptionsColumn:
      return QString();
    case StepColumn:
      return tr("≈ step");
    case TokensColumn:
      return tr("≈ tokens/s");
    case MovesColumn:
      return tr("moves");
    case PauseColumn:
      return tr("≈ pause");
    case PeakColumn:
      return tr("peak memory");
    case NUM_COLUMNS:
      break;
  }
  return {};
}

}  // namespace tessera::ui
