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
  if (options.micro_batch > 0)
    parts << CandidateTableModel::tr("mb %1").arg(format::count(options.micro_batch));
  return parts.join(QLatin1Char(' '));
}

}  // namespace

Fit fitOf(const engine::Candidate& candidate) {
  if (!candidate.fits()) return Fit::TooLarge;
  const bool tight = candidate.capacity - candidate.peak_bytes < candidate.capacity / 10;
  return tight ? Fit::Tight : Fit::Fits;
}

CandidateTableModel::CandidateTableModel(QObject* parent) : ColumnTable(parent) {
  using engine::Candidate;
  const auto secondsOr = [](double seconds) {
    return seconds > 0 ? format::seconds(seconds) : format::unknown();
  };
  setColumns({
      {QString(), [](const Candidate&) { return QString(); }},
      {QStringLiteral("dp × tp × pp"), [](const Candidate& c) { return format::shape(c.mesh); }},
      {QString(), [](const Candidate& c) { return shortOptions(c.options); }},
      {tr("≈ step"), [=](const Candidate& c) { return secondsOr(c.step_seconds); }, Qt::AlignRight,
       tr("Seconds per step, estimated")},
      {tr("≈ tokens/s"), [this](const Candidate& c) { return tokensText(c); }, Qt::AlignRight,
       tr("Tokens per second, estimated")},
      {tr("moves"),
       [](const Candidate& c) { return c.current ? tr("nothing") : format::bytes(c.moved_bytes); },
       Qt::AlignRight, tr("Bytes that the change would move")},
      {tr("≈ pause"),
       [=](const Candidate& c) { return secondsOr(c.current ? 0 : c.pause_seconds); },
       Qt::AlignRight, tr("Pause of the job, estimated")},
      {tr("peak memory"),
       [](const Candidate& c) {
         return c.capacity > 0 ? format::bytesOf(c.peak_bytes, c.capacity) : format::unknown();
       },
       Qt::AlignRight, tr("Memory of the fullest GPU during the change")},
  });
}

void CandidateTableModel::setCandidates(std::vector<engine::Candidate> candidates,
                                        std::function<std::optional<double>(double)> tokens) {
  m_tokens = std::move(tokens);
  if (candidates == m_rows) return;
  beginResetModel();
  m_rows = std::move(candidates);
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

QString CandidateTableModel::tokensText(const engine::Candidate& candidate) const {
  const auto tokens = m_tokens ? m_tokens(candidate.step_seconds) : std::nullopt;
  return tokens ? format::shortCount(*tokens) : format::unknown();
}

QStringList CandidateTableModel::merits(const engine::Candidate& candidate) const {
  QStringList words;
  if (candidate.fastest) words << tr("fastest");
  if (candidate.moves_least) words << tr("moves least");
  const auto leavesIdle = [](const engine::Candidate& each) { return !each.idle.empty(); };
  if (candidate.fits() && !leavesIdle(candidate) && std::ranges::any_of(m_rows, leavesIdle)) {
    words << tr("all GPUs");
  }
  return words;
}

QString CandidateTableModel::describe(int row) const {
  const engine::Candidate& candidate = this->row(row);
  QStringList parts{format::shape(candidate.mesh)};
  if (const QString options = shortOptions(candidate.options); !options.isEmpty()) parts << options;
  if (candidate.current) parts << tr("current");
  if (candidate.recommended) parts << tr("recommended");
  parts << merits(candidate);
  parts << tr("step ≈ %1").arg(text(candidate, StepColumn));
  if (const QString tokens = text(candidate, TokensColumn); tokens != format::unknown()) {
    parts << tr("≈ %1 tokens/s").arg(tokens);
  }
  const bool moves = candidate.moved_bytes > 0 || candidate.pause_seconds > 0;
  if (!candidate.current && moves) {
    parts << tr("moves %1, pause ≈ %2")
                 .arg(text(candidate, MovesColumn), text(candidate, PauseColumn));
  }
  parts << tr("peak %1, %2").arg(text(candidate, PeakColumn), fitWords(fitOf(candidate)));
  if (!candidate.idle.empty()) {
    parts << tr("%1 unused").arg(format::gpus(static_cast<std::int64_t>(candidate.idle.size())));
  }
  if (candidate.survival) {
    parts << tr("loss of any node: %1").arg(format::survival(*candidate.survival));
  }
  return parts.join(QStringLiteral(" · "));
}

QVariant CandidateTableModel::data(const QModelIndex& index, int role) const {
  if (!index.isValid()) return {};
  const engine::Candidate& candidate = row(index.row());
  switch (role) {
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
    case MeritsRole:
      return merits(candidate).join(QStringLiteral(", "));
    case HoveredRole:
      return m_hovered == index.row();
    default:
      return ColumnTable::data(index, role);
  }
}

}  // namespace tessera::ui
