// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/models/file_facts.h"

#include <QCoreApplication>

#include "ui/format.h"

namespace tessera::ui {

using engine::vfs::FilePlan;
using engine::vfs::JobFacts;
using engine::vfs::NodeKey;
using engine::vfs::StateFile;
using engine::vfs::NodeKind;

namespace {

struct FileFactWords {
  Q_DECLARE_TR_FUNCTIONS(tessera::ui::FileFacts)
};

QString exactBytes(std::int64_t count) {
  return count < 1024
             ? FileFactWords::tr("%1 bytes").arg(format::count(count))
             : FileFactWords::tr("%1 (%2 bytes)").arg(format::bytes(count), format::count(count));
}

QString summaryOf(const NodeKey& key, const JobFacts* facts) {
  switch (key.kind) {
    case NodeKind::kJobs:
      return FileFactWords::tr("One folder per job.");
    case NodeKind::kJob:
      return FileFactWords::tr("The state of the job as files, all from the same step.");
    case NodeKind::kRanks:
      return FileFactWords::tr("The shards of each rank, one folder per rank.");
    case NodeKind::kRank: {
      const auto& devices = facts->info.layout.mesh().devices();
      return FileFactWords::tr("The shards of rank %1, on %2.")
          .arg(*key.rank)
          .arg(format::device(devices[static_cast<std::size_t>(*key.rank)]));
    }
    case NodeKind::kFull:
      return FileFactWords::tr("Every tensor in full, whatever the mesh.");
    case NodeKind::kEpoch:
      return FileFactWords::tr("The number of the job's committed layout.");
    case NodeKind::kStep:
      return FileFactWords::tr("The step of all files of the job.");
    case NodeKind::kLayout:
      return FileFactWords::tr("The mesh, and how it cuts each tensor.");
    case NodeKind::kState:
      return key.state_file == StateFile::kModel ? FileFactWords::tr("Parameters and buffers.")
                                      : FileFactWords::tr(
                                            "State that only training needs: master weights, "
                                            "moments, scalars and random streams.");
    default:
      return {};
  }
}

/// Returns a Python string literal.
QString pythonString(const QString& text) {
  QString out = text;
  out.replace(QLatin1Char('\\'), QStringLiteral("\\\\"));
  out.replace(QLatin1Char('"'), QStringLiteral("\\\""));
  return QLatin1Char('"') + out + QLatin1Char('"');
}

QString stepText(const JobFacts& facts) {
  return FileFactWords::tr("step %1, or the job's step when the file is opened first")
      .arg(format::count(facts.info.step));
}

/// Sets the holders of the bytes, as text and for the strip.
void placeTensor(const FileTreeModel::Tensor& tensor, const JobFacts& facts, FileFacts& out) {
  auto bytes = std::make_shared<PlacedTensor>(facts, *tensor.plan, tensor.entry);
  const auto copies = static_cast<int>(bytes->copies());
  if (copies == 0) {
    out.placement = FileFactWords::tr("This tensor has no elements.");
    return;
  }
  out.placement = bytes->numRuns() == 1
                      ? FileFactWords::tr("In one range on %1.").arg(format::gpus(copies))
                      : FileFactWords::tr("%1 ranges, each on %2.")
                            .arg(format::count(bytes->numRuns()), format::gpus(copies));
  out.bytes = std::move(bytes);
}

void describeTensor(const FileTreeModel::Tensor& tensor, const JobFacts& facts, FileFacts& out) {
  const FilePlan::Entry& entry = tensor.plan->entries()[tensor.entry];
  const auto& spec =
      facts.info.layout.collection().tensors()[static_cast<std::size_t>(entry.tensor)];
  const QString shape = QString::fromStdString(ptc::ToString(spec.shape));
  const QString dtype = QString::fromStdString(std::string(ptc::ToString(spec.dtype)));
  out.title = QString::fromStdString(tensor.plan->NameOf(tensor.entry));
  const auto& boxes = entry.held.boxes();
  const bool whole = boxes.empty() || entry.held.shape() == spec.shape;
  QStringList parts;
  for (const ptc::Box& box : boxes) parts << QString::fromStdString(ToString(box));
  out.summary = whole ? QStringLiteral("%1 %2").arg(dtype, shape)
                      : FileFactWords::tr("%1, range %2 of %3")
                            .arg(dtype, parts.join(QLatin1Char(' ')), shape);
  out.facts.push_back({FileFactWords::tr("size"), exactBytes(entry.end - entry.begin)});
  if (entry.end > entry.begin) {
    out.facts.push_back({FileFactWords::tr("bytes of the file"),
                         FileFactWords::tr("%1 to %2")
                             .arg(format::count(entry.begin), format::count(entry.end - 1))});
  }
  out.facts.push_back({FileFactWords::tr("content"), stepText(facts)});
  out.safetensors = true;
  out.tensor = out.title;
  out.plan = tensor.plan;
}

}  // namespace

FileFacts makeFileFacts(const FileTreeModel& files, const QModelIndex& index,
                        const FileFacts& before) {
  FileFacts out;
  out.path = files.path(index);
  const NodeKey& key = files.key(index);
  const auto facts = files.facts(index);
  if (const auto tensor = files.tensor(index)) {
    describeTensor(*tensor, *facts, out);
    if (before.plan == out.plan && before.tensor == out.tensor) {
      out.placement = before.placement;
      out.bytes = before.bytes;
    } else {
      placeTensor(*tensor, *facts, out);
    }
    return out;
  }
  out.title = index.siblingAtColumn(FileTreeModel::NameColumn).data().toString();
  out.summary = summaryOf(key, facts.get());
  if (key.kind != NodeKind::kState) {
    const bool text = !IsFolder(key) && key.kind != NodeKind::kLayout && facts != nullptr &&
                      (key.kind == NodeKind::kEpoch || key.kind == NodeKind::kStep);
    if (text) {
      const std::int64_t number = key.kind == NodeKind::kEpoch ? facts->info.epoch : facts->info.step;
      out.facts.push_back({FileFactWords::tr("now"), format::count(number)});
    }
    if (key.kind == NodeKind::kLayout && facts != nullptr) {
      out.facts.push_back(
          {FileFactWords::tr("size"), exactBytes(TextAt(NodeKind::kLayout, *facts)->size())});
      out.facts.push_back({FileFactWords::tr("mesh"),
                           QString::fromStdString(ToString(facts->info.layout.mesh().shape()))});
    }
    return out;
  }
  const FilePlanPtr plan = files.plan(index);
  if (!plan) {
    const QString problem = files.problem(index);
    if (!problem.isEmpty()) out.summary = problem;
    return out;
  }
  out.facts.push_back({FileFactWords::tr("size"), exactBytes(plan->size())});
  out.facts.push_back({FileFactWords::tr("tensors"), format::count(std::ssize(plan->entries()))});
  out.facts.push_back({FileFactWords::tr("content"), stepText(*facts)});
  out.placement = FileFactWords::tr(
      "One bar for each replica. Reading fetches only the requested bytes from the GPUs.");
  out.safetensors = true;
  out.plan = plan;
  const bool same = before.plan == plan && before.tensor.isEmpty();
  out.bytes = same ? before.bytes : std::make_shared<PlacedFile>(facts, plan);
  return out;
}

QString pythonLine(const FileFacts& facts, const QString& path) {
  const QString file = QStringLiteral("safetensors.safe_open(") + pythonString(path) +
                       QStringLiteral(", framework=\"pt\")");
  return facts.tensor.isEmpty() ? file
                                : file + QStringLiteral(".get_tensor(") +
                                      pythonString(facts.tensor) + QLatin1Char(')');
}

}  // namespace tessera::ui
