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

struct Words {
  Q_DECLARE_TR_FUNCTIONS(FileFacts)
};

QString exactBytes(std::int64_t count) {
  return count < 1024 ? Words::tr("%1 bytes").arg(format::count(count))
                      : Words::tr("%1 (%2 bytes)").arg(format::bytes(count), format::count(count));
}

QString summaryOf(const NodeKey& key, const JobFacts* facts) {
  switch (key.kind) {
    case NodeKind::kJobs:
      return Words::tr("A folder a job.");
    case NodeKind::kJob:
      return Words::tr("The state of the job as files, all of one step.");
    case NodeKind::kRanks:
      return Words::tr("What each rank holds, a folder a rank.");
    case NodeKind::kRank: {
      const auto& devices = facts->info.layout.mesh().devices();
      return Words::tr("What rank %1 holds, on %2.")
          .arg(*key.rank)
          .arg(format::device(devices[static_cast<std::size_t>(*key.rank)]));
    }
    case NodeKind::kFull:
      return Words::tr("Every tensor whole, whatever the mesh.");
    case NodeKind::kEpoch:
      return Words::tr("Counts the meshes of the job.");
    case NodeKind::kStep:
      return Words::tr("The step that all files of the job show.");
    case NodeKind::kLayout:
      return Words::tr("The mesh, and how it cuts each tensor.");
    case NodeKind::kState:
      return key.state_file == StateFile::kModel ? Words::tr("Parameters and buffers.")
                                      : Words::tr(
                                            "What only training needs: masters, moments, "
                                            "scalars and random streams.");
    default:
      return {};
  }
}

/// As Python writes a text.
QString quoted(const QString& text) {
  QString out = text;
  out.replace(QLatin1Char('\\'), QStringLiteral("\\\\"));
  out.replace(QLatin1Char('"'), QStringLiteral("\\\""));
  return QLatin1Char('"') + out + QLatin1Char('"');
}

QString stepText(const JobFacts& facts) {
  return Words::tr("step %1, or where the job is when it is first opened")
      .arg(format::count(facts.info.step));
}

/// Who holds the bytes, in words and for the strip.
void placeTensor(const FileTreeModel::Tensor& tensor, const JobFacts& facts, FileFacts& out) {
  auto bytes = std::make_shared<PlacedTensor>(facts, *tensor.plan, tensor.entry);
  const auto copies = static_cast<int>(bytes->copies());
  if (copies == 0) {
    out.placement = Words::tr("It has no elements.");
    return;
  }
  out.placement = bytes->numRuns() == 1
                      ? Words::tr("In one piece on %1.").arg(format::gpus(copies))
                      : Words::tr("%1 ranges, each on %2.")
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
                      : Words::tr("%1, part %2 of %3")
                            .arg(dtype, parts.join(QLatin1Char(' ')), shape);
  out.facts.push_back({Words::tr("size"), exactBytes(entry.end - entry.begin)});
  if (entry.end > entry.begin) {
    out.facts.push_back(
        {Words::tr("bytes of the file"),
         Words::tr("%1 to %2").arg(format::count(entry.begin), format::count(entry.end - 1))});
  }
  out.facts.push_back({Words::tr("shows"), stepText(facts)});
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
      out.facts.push_back({Words::tr("now"), format::count(number)});
    }
    if (key.kind == NodeKind::kLayout && facts != nullptr) {
      out.facts.push_back({Words::tr("size"), exactBytes(TextAt(NodeKind::kLayout, *facts)->size())});
      out.facts.push_back(
          {Words::tr("mesh"), QString::fromStdString(ToString(facts->info.layout.mesh().shape()))});
    }
    return out;
  }
  const FilePlanPtr plan = files.plan(index);
  if (!plan) {
    const QString problem = files.problem(index);
    if (!problem.isEmpty()) out.summary = problem;
    return out;
  }
  out.facts.push_back({Words::tr("size"), exactBytes(plan->size())});
  out.facts.push_back({Words::tr("tensors"), format::count(std::ssize(plan->entries()))});
  out.facts.push_back({Words::tr("shows"), stepText(*facts)});
  out.placement = Words::tr(
      "A bar for each copy. What is read is put together from the GPUs, and only that moves.");
  out.safetensors = true;
  out.plan = plan;
  const bool same = before.plan == plan && before.tensor.isEmpty();
  out.bytes = same ? before.bytes : std::make_shared<PlacedFile>(facts, plan);
  return out;
}

QString pythonLine(const FileFacts& facts, const QString& path) {
  const QString file = QStringLiteral("safetensors.safe_open(") + quoted(path) +
                       QStringLiteral(", framework=\"pt\")");
  return facts.tensor.isEmpty()
             ? file
             : file + QStringLiteral(".get_tensor(") + quoted(facts.tensor) + QLatin1Char(')');
}

}  // namespace tessera::ui
