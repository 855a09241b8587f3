// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/canvas/mesh_scene.h"

#include <QCoreApplication>
#include <QStringList>
#include <algorithm>
#include <cmath>
#include <map>
#include <unordered_map>
#include <unordered_set>

#include "ui/format.h"

namespace tessera::ui {
namespace {

using Cell = MeshScene::Cell;
using engine::NodeState;
using engine::TxnPhase;

struct MeshSceneWords {
  Q_DECLARE_TR_FUNCTIONS(tessera::ui::MeshScene)
};

// The bytes that one device sends and receives, over all flows.
struct Traffic {
  std::int64_t outDone = 0, outTotal = 0, inDone = 0, inTotal = 0;
  double outRate = 0, inRate = 0;
};

struct DeviceHash {
  std::size_t operator()(ptc::DeviceId id) const {
    return static_cast<std::size_t>(id.node) * 1009U + static_cast<std::size_t>(id.index);
  }
};
using DeviceSet = std::unordered_set<ptc::DeviceId, DeviceHash>;
using TrafficMap = std::unordered_map<ptc::DeviceId, Traffic, DeviceHash>;

TrafficMap trafficOf(const std::vector<engine::FlowStatus>& flows) {
  TrafficMap map;
  for (const auto& flow : flows) {
    if (flow.source == flow.destination) continue;
    Traffic& out = map[flow.source];
    out.outDone += flow.bytes_done;
    out.outTotal += flow.bytes_total;
    out.outRate += flow.bytes_per_second;
    Traffic& in = map[flow.destination];
    in.inDone += flow.bytes_done;
    in.inTotal += flow.bytes_total;
    in.inRate += flow.bytes_per_second;
  }
  return map;
}

// Whether flows are shown in this phase of a transaction, and whether bytes move now.
struct FlowPhase {
  bool shown = false;
  bool live = false;
};
FlowPhase flowPhase(TxnPhase phase) {
  switch (phase) {
    case TxnPhase::kPlanned:
    case TxnPhase::kPreparing:
    case TxnPhase::kPausing:
    case TxnPhase::kNeedsDecision:
      return {true, false};
    case TxnPhase::kPrecopying:
    case TxnPhase::kTransferring:
      return {true, true};
    case TxnPhase::kVerifying:
    case TxnPhase::kCommitting:
    case TxnPhase::kResuming:
    case TxnPhase::kDone:
    case TxnPhase::kRollingBack:
    case TxnPhase::kRolledBack:
    case TxnPhase::kFailed:
    case TxnPhase::kInDoubt:
      return {};
  }
  return {};
}

QString pieceLabel(const ptc::MeshShape& shape, int pp, int tp) {
  const QString tensor = QStringLiteral("tp %1").arg(tp);
  const QString stage = QStringLiteral("pp %1").arg(pp);
  if (shape[ptc::Axis::kPp] == 1) return tensor;
  if (shape[ptc::Axis::kTp] == 1) return stage;
  return stage + QStringLiteral(" · ") + tensor;
}

// Ranks and coordinates of a mesh, which are written into cells. The texts of shards and replicas
// are made once and shared by the cells.
class Places {
 public:
  Places() = default;
  /// \param from the mesh whose hues the shards keep
  Places(const ptc::MeshShape& shape, const std::vector<ptc::DeviceId>& devices,
         const std::optional<ptc::MeshShape>& from = {})
      : m_from(from) {
    auto mesh = ptc::DeviceMesh::Make(shape, devices);
    if (mesh) m_mesh = std::move(*mesh);  // an invalid mesh shows no coordinates
    if (!m_mesh) return;
    m_ranks.reserve(static_cast<std::size_t>(m_mesh->num_ranks()));
    for (int rank = 0; rank < m_mesh->num_ranks(); ++rank) {
      m_ranks.emplace(m_mesh->devices()[static_cast<std::size_t>(rank)], rank);
    }
  }
  bool holds(ptc::DeviceId device) const { return m_ranks.contains(device); }

  // \pre holds(cell->id)
  void put(Cell* cell) const {
    const int rank = m_ranks.at(cell->id);
    const auto at = [&](ptc::Axis axis) {
      return static_cast<int>(m_mesh->Coordinate(rank, axis));
    };
    const ptc::MeshShape& shape = m_mesh->shape();
    cell->rank = rank;
    cell->dp = at(ptc::Axis::kDp);
    cell->tp = at(ptc::Axis::kTp);
    cell->pp = at(ptc::Axis::kPp);
    cell->ep = at(ptc::Axis::kEp);
    cell->cp = at(ptc::Axis::kCp);
    cell->piece = cell->pp * static_cast<int>(shape[ptc::Axis::kTp]) + cell->tp;
    cell->swatches = swatchesAt(shape, cell->pp, cell->tp, m_from);
    QString& label = m_labels[*cell->piece];
    if (label.isNull()) label = pieceLabel(shape, cell->pp, cell->tp);
    cell->label = label;
    QString& replica =
        m_replicas[(cell->dp * shape[ptc::Axis::kEp] + cell->ep) * shape[ptc::Axis::kCp] +
                   cell->cp];
    if (replica.isNull()) {
      replica = QStringLiteral("dp %1").arg(cell->dp);
      if (shape[ptc::Axis::kEp] > 1) replica += QStringLiteral(" · ep %1").arg(cell->ep);
      if (shape[ptc::Axis::kCp] > 1) replica += QStringLiteral(" · cp %1").arg(cell->cp);
    }
    cell->replica = replica;
  }

  const ptc::MeshShape* shape() const { return m_mesh ? &m_mesh->shape() : nullptr; }

 private:
  std::optional<ptc::DeviceMesh> m_mesh;
  std::optional<ptc::MeshShape> m_from;
  std::unordered_map<ptc::DeviceId, int, DeviceHash> m_ranks;
  mutable std::unordered_map<std::int64_t, QString> m_labels, m_replicas;
};

// Everything that determines the content of cells, collected once per scene.
struct View {
  const engine::JobStatus* job = nullptr;
  const engine::TxnStatus* txn = nullptr;  // of this job, not ended
  const std::set<ptc::DeviceId>* draft = nullptr;
  const engine::PlanSummary* preview = nullptr;  // matches the draft
  DeviceSet members;                             // of the job now
  DeviceSet coming;                              // of the transaction's new mesh
  Places now, next;
  TrafficMap traffic;
  FlowPhase phase;
  bool draftDiffers = false;
  std::unordered_map<ptc::DeviceId, std::int64_t, DeviceHash> peaks;  // of the preview
};

bool fits(const engine::PlanSummary& preview, const std::string& job,
          const std::set<ptc::DeviceId>& devices) {
  std::set<ptc::DeviceId> planned(preview.to_devices.begin(), preview.to_devices.end());
  planned.insert(preview.idle.begin(), preview.idle.end());
  return preview.job == job && planned == devices;
}

View gather(const engine::ClusterSnapshot& snapshot, const std::string& jobName,
            const std::set<ptc::DeviceId>* draft, const engine::PlanSummary* preview) {
  View view;
  view.draft = draft;
  for (const auto& job : snapshot.jobs) {
    if (!jobName.empty() && job.name == jobName) view.job = &job;
  }
  if (!view.job) return view;
  view.members.insert(view.job->devices.begin(), view.job->devices.end());
  view.now = Places(view.job->mesh, view.job->devices);
  if (draft) {
    view.draftDiffers =
        draft->size() != view.members.size() ||
        !std::ranges::all_of(*draft, [&](auto id) { return view.members.contains(id); });
    if (preview && fits(*preview, jobName, *draft)) {
      view.preview = preview;
      view.next = Places(preview->to_mesh, preview->to_devices, view.job->mesh);
      view.traffic = trafficOf(preview->flows);
      view.phase = {true, false};
      for (const auto& peak : preview->peak_memory) view.peaks[peak.device] = peak.bytes;
    }
    return view;
  }
  if (snapshot.transaction && snapshot.transaction->job == jobName &&
      !engine::IsFinal(snapshot.transaction->phase)) {
    view.txn = &*snapshot.transaction;
    view.coming.insert(view.txn->to_devices.begin(), view.txn->to_devices.end());
    view.next = Places(view.txn->to_mesh, view.txn->to_devices, view.job->mesh);
    view.traffic = trafficOf(view.txn->flows);
    view.phase = flowPhase(view.txn->phase);
  }
  return view;
}

void fillDraftCell(const View& view, Cell* cell) {
  const bool member = view.members.contains(cell->id);
  cell->inMesh = view.draft->contains(cell->id);
  if (!cell->inMesh) {
    cell->state = member ? Cell::State::Leaving : Cell::State::Idle;
    cell->note = member ? MeshSceneWords::tr("leaves") : MeshSceneWords::tr("idle");
    return;
  }
  if (!view.preview) {
    if (member && view.now.holds(cell->id)) view.now.put(cell);
    cell->state = !member             ? Cell::State::Joining
                  : view.draftDiffers ? Cell::State::Staying
                                      : Cell::State::Healthy;
    cell->note = !member             ? MeshSceneWords::tr("joins")
                 : view.draftDiffers ? MeshSceneWords::tr("stays")
                 : cell->rank        ? MeshSceneWords::tr("rank %1").arg(*cell->rank)
                                     : QString();
    return;
  }
  if (!view.next.holds(cell->id)) {
    cell->state = Cell::State::Idle;
    cell->note = MeshSceneWords::tr("unused");
    return;
  }
  view.next.put(cell);
  if (const auto peak = view.peaks.find(cell->id); peak != view.peaks.end()) {
    cell->used = peak->second;
  }
  const auto traffic = view.traffic.find(cell->id);
  const std::int64_t comes = traffic == view.traffic.end() ? 0 : traffic->second.inTotal;
  cell->incoming = comes;
  cell->note = comes > 0 ? MeshSceneWords::tr("receives %1").arg(format::bytes(comes))
               : member  ? MeshSceneWords::tr("stays")
                         : MeshSceneWords::tr("joins");
  cell->state = !member     ? Cell::State::Joining
                : comes > 0 ? Cell::State::Receiving
                            : Cell::State::Staying;
}

void fillLiveCell(const View& view, const engine::DeviceStatus& device, Cell* cell) {
  const bool member = view.members.contains(cell->id);
  const bool coming = view.coming.contains(cell->id);
  cell->inMesh = member || coming || (device.joining && device.job == view.job->name);
  if (!cell->inMesh) {
    cell->note = MeshSceneWords::tr("idle");
    return;
  }
  if (member && view.now.holds(cell->id)) {
    view.now.put(cell);
  } else if (view.next.holds(cell->id)) {
    view.next.put(cell);
    cell->upcoming = true;
  }
  if (!view.txn) {
    cell->state = member ? Cell::State::Healthy : Cell::State::Joining;
    cell->slow = member && device.peers_seconds > 0;
    cell->note = !member       ? MeshSceneWords::tr("starting")
                 : !cell->rank ? QString()
                 : cell->slow  ? MeshSceneWords::tr("rank %1, slow").arg(*cell->rank)
                               : MeshSceneWords::tr("rank %1").arg(*cell->rank);
    return;
  }
  if (member && !coming) {
    cell->state = Cell::State::Leaving;
    cell->note = MeshSceneWords::tr("leaves");
  } else if (member) {
    cell->state = Cell::State::Staying;
    cell->note = MeshSceneWords::tr("stays");
  } else {
    cell->state = Cell::State::Joining;
    cell->note = MeshSceneWords::tr("starting");
  }
  const auto found = view.traffic.find(cell->id);
  if (!view.phase.live || found == view.traffic.end()) return;
  const Traffic& traffic = found->second;
  if (traffic.inTotal > 0) {
    cell->state = Cell::State::Receiving;
    cell->incoming = traffic.inTotal;
    cell->progress = static_cast<double>(traffic.inDone) / static_cast<double>(traffic.inTotal);
    cell->note = format::percent(cell->progress);
  } else if (traffic.outDone < traffic.outTotal) {
    cell->state = Cell::State::Sending;
    cell->note = MeshSceneWords::tr("sends");
  }
}

Cell makeCell(const View& view, const engine::NodeStatus& node,
              const engine::DeviceStatus& device) {
  Cell cell;
  cell.id = device.id;
  cell.used = device.used_bytes;
  cell.total = device.total_bytes;
  const bool foreign = !device.job.empty() && (!view.job || device.job != view.job->name);
  if (foreign) {
    cell.taken = true;
    cell.owner = QString::fromStdString(device.job);
    cell.rank = device.rank;
    cell.state = Cell::State::Healthy;
    cell.note = cell.owner;
  } else if (!view.job) {
    cell.note = MeshSceneWords::tr("idle");
  } else if (view.draft) {
    fillDraftCell(view, &cell);
  } else {
    fillLiveCell(view, device, &cell);
  }
  // A problem of the node takes precedence over the state of the device.
  switch (node.state) {
    case NodeState::kJoining:
      cell.state = Cell::State::Loading;
      break;
    case NodeState::kSuspect:
      cell.state = Cell::State::Suspect;
      cell.note = MeshSceneWords::tr("no answer");
      break;
    case NodeState::kDead:
    case NodeState::kLeft:
      cell.state = Cell::State::Dead;
      cell.note = MeshSceneWords::tr("lost");
      break;
    case NodeState::kAlive:
    case NodeState::kUnmanaged:
      break;
  }
  if (device.failed) {
    cell.state = Cell::State::Dead;
    cell.note = MeshSceneWords::tr("failed");
  }
  return cell;
}

QString subtitleOf(const View& view, const engine::ClusterSnapshot& snapshot,
                   const MeshScene::Node& node) {
  switch (node.state) {
    case NodeState::kJoining:
      return MeshSceneWords::tr("joining");
    case NodeState::kSuspect:
      return MeshSceneWords::tr("no answer for %1").arg(format::wait(node.lastSeen));
    case NodeState::kUnmanaged:
      return MeshSceneWords::tr("last seen %1").arg(format::age(node.lastSeen));
    case NodeState::kDead:
      return MeshSceneWords::tr("lost %1").arg(format::age(node.lastSeen));
    case NodeState::kLeft:
      return MeshSceneWords::tr("left");
    case NodeState::kAlive:
      break;
  }
  int inMesh = 0, joining = 0, leaving = 0;
  Traffic sum;
  for (const Cell& cell : node.cells) {
    const bool member = view.members.contains(cell.id);
    inMesh += cell.inMesh;
    joining += cell.inMesh && !member;
    leaving += member && !cell.inMesh;
    if (const auto it = view.traffic.find(cell.id); it != view.traffic.end()) {
      sum.outRate += it->second.outRate;
      sum.inRate += it->second.inRate;
    }
  }
  if (view.phase.live && sum.inRate >= sum.outRate && sum.inRate > 0) {
    return MeshSceneWords::tr("receives %1").arg(format::rate(sum.inRate));
  }
  if (view.phase.live && sum.outRate > 0) {
    return MeshSceneWords::tr("sends %1").arg(format::rate(sum.outRate));
  }
  if (view.draft && (joining > 0 || leaving > 0)) {
    QStringList parts;
    if (joining > 0) parts += QStringLiteral("+") + format::gpus(joining);
    if (leaving > 0) parts += QString(QChar(0x2212)) + format::gpus(leaving);
    return parts.join(QStringLiteral(" · "));
  }
  if (inMesh == 0) return format::gpus(std::ssize(node.cells));
  if (snapshot.link_bytes_per_second > 0 && !view.draft) {
    return format::gpus(inMesh) + QStringLiteral(" · ") +
           format::rate(snapshot.link_bytes_per_second);
  }
  return format::gpus(inMesh);
}

QString stateWords(const Cell& cell) {
  const int percent = format::wholePercent(cell.progress);
  switch (cell.state) {
    case Cell::State::Idle:
      return cell.inMesh ? MeshSceneWords::tr("unused") : MeshSceneWords::tr("idle");
    case Cell::State::Healthy:
      if (cell.slow) return MeshSceneWords::tr("slower than its peers");
      return cell.taken ? MeshSceneWords::tr("runs %1").arg(cell.note) : QString();
    case Cell::State::Staying:
      return MeshSceneWords::tr("stays");
    case Cell::State::Joining:
      return cell.note == MeshSceneWords::tr("joins")
                 ? MeshSceneWords::tr("joining")
                 : MeshSceneWords::tr("joining, %1").arg(cell.note);
    case Cell::State::Leaving:
      return MeshSceneWords::tr("leaving");
    case Cell::State::Sending:
      return MeshSceneWords::tr("sending");
    case Cell::State::Receiving:
      return cell.progress > 0 ? MeshSceneWords::tr("receiving %1 percent").arg(percent)
                               : cell.note;
    case Cell::State::Stalled:
      return MeshSceneWords::tr("stalled at %1 percent").arg(percent);
    case Cell::State::Loading:
      return MeshSceneWords::tr("loading");
    case Cell::State::Suspect:
      return MeshSceneWords::tr("suspect, no answer");
    case Cell::State::Dead:
      return cell.note;
  }
  Q_UNREACHABLE();
}

}  // namespace

const MeshScene::Cell* MeshScene::find(ptc::DeviceId device) const {
  const auto node = std::lower_bound(nodes.begin(), nodes.end(), device.node,
                                     [](const Node& n, std::int32_t key) { return n.node < key; });
  if (node == nodes.end() || node->node != device.node) return nullptr;
  const auto cell = std::lower_bound(node->cells.begin(), node->cells.end(), device,
                                     [](const Cell& c, ptc::DeviceId key) { return c.id < key; });
  return cell != node->cells.end() && cell->id == device ? &*cell : nullptr;
}

bool MeshScene::moving() const {
  return std::any_of(flows.begin(), flows.end(),
                     [](const Flow& flow) { return flow.live && !flow.stalled; });
}

void hideProgress(MeshScene* scene) {
  for (MeshScene::Node& node : scene->nodes) {
    for (Cell& cell : node.cells) {
      if (cell.state != Cell::State::Receiving) continue;
      cell.progress = 0;
      cell.note = MeshSceneWords::tr("receives %1").arg(format::bytes(cell.incoming));
    }
  }
}

QString text(ColourBy by) {
  switch (by) {
    case ColourBy::Piece:
      return MeshSceneWords::tr("shard (tp × pp)");
    case ColourBy::Replica:
      return MeshSceneWords::tr("replica (dp)");
    case ColourBy::Stage:
      return MeshSceneWords::tr("pipeline stage (pp)");
    case ColourBy::Slice:
      return MeshSceneWords::tr("tensor slice (tp)");
    case ColourBy::Host:
      return MeshSceneWords::tr("node");
    case ColourBy::Memory:
      return MeshSceneWords::tr("memory used");
  }
  Q_UNREACHABLE();
}

void colourScene(MeshScene* scene, ColourBy by) {
  scene->colourBy = by;
  scene->legend.clear();
  const auto swatchOf = [&](const Cell& cell, int node) -> std::optional<int> {
    if (!cell.piece) return std::nullopt;
    switch (by) {
      case ColourBy::Piece:
        return cell.swatches.piece;
      case ColourBy::Replica:
        return cell.dp;
      case ColourBy::Stage:
        return cell.swatches.stage;
      case ColourBy::Slice:
        return cell.swatches.slice;
      case ColourBy::Host:
        return node;
      case ColourBy::Memory:
        if (cell.total <= 0) return std::nullopt;
        return format::wholePercent(static_cast<double>(cell.used) /
                                    static_cast<double>(cell.total));
    }
    Q_UNREACHABLE();
  };
  int place = 0;
  for (MeshScene::Node& node : scene->nodes) {
    bool shown = false;
    for (Cell& cell : node.cells) {
      cell.swatch = swatchOf(cell, place);
      shown |= cell.swatch.has_value();
    }
    if (by == ColourBy::Host && shown) scene->legend.push_back({place, node.name});
    ++place;
  }
  if (by == ColourBy::Memory) {
    for (const int percent : {0, 25, 50, 75, 100}) {
      scene->legend.push_back({percent, QStringLiteral("%1 %").arg(percent)});
    }
  } else if (scene->shape) {
    const ptc::MeshShape& shape = *scene->shape;
    const auto degree = [&](ptc::Axis axis) { return static_cast<int>(shape[axis]); };
    const auto at = [&](int pp, int tp) { return swatchesAt(shape, pp, tp, scene->splitFrom); };
    const auto add = [&](int swatch, const char* name, int index) {
      scene->legend.push_back(
          {swatch, QStringLiteral("%1 %2").arg(QLatin1String(name)).arg(index)});
    };
    const int stages = degree(ptc::Axis::kPp), slices = degree(ptc::Axis::kTp);
    if (by == ColourBy::Replica) {
      for (int dp = 0; dp < degree(ptc::Axis::kDp); ++dp) add(dp, "dp", dp);
    } else if (by == ColourBy::Stage) {
      for (int pp = 0; pp < stages; ++pp) add(at(pp, 0).stage, "pp", pp);
    } else if (by == ColourBy::Slice) {
      for (int tp = 0; tp < slices; ++tp) add(at(0, tp).slice, "tp", tp);
    } else if (by == ColourBy::Piece) {
      for (int pp = 0; pp < stages; ++pp) {
        for (int tp = 0; tp < slices; ++tp) {
          scene->legend.push_back({at(pp, tp).piece, pieceLabel(shape, pp, tp)});
        }
      }
    }
  }
  const bool known = std::any_of(
      scene->legend.begin(), scene->legend.end(),
      [&](const MeshScene::LegendEntry& entry) { return scene->isolated == entry.swatch; });
  if (!known || by == ColourBy::Memory) scene->isolated.reset();
}

void inheritColours(MeshScene* scene, const ptc::MeshShape& from) {
  if (!scene->shape) return;
  scene->splitFrom = from;
  for (MeshScene::Node& node : scene->nodes) {
    for (Cell& cell : node.cells) {
      if (cell.piece) cell.swatches = swatchesAt(*scene->shape, cell.pp, cell.tp, from);
    }
  }
  colourScene(scene, scene->colourBy);
}

QString describe(const MeshScene::Cell& cell) {
  QStringList parts;
  parts += MeshSceneWords::tr("%1 GPU %2").arg(format::node(cell.id.node)).arg(cell.id.index);
  if (cell.rank && !cell.taken) parts += MeshSceneWords::tr("rank %1").arg(*cell.rank);
  if (cell.piece) {
    QString place = MeshSceneWords::tr("DP %1 TP %2 PP %3").arg(cell.dp).arg(cell.tp).arg(cell.pp);
    if (cell.ep > 0) place += MeshSceneWords::tr(" EP %1").arg(cell.ep);
    if (cell.cp > 0) place += MeshSceneWords::tr(" CP %1").arg(cell.cp);
    parts += place;
  }
  if (!cell.inMesh && !cell.taken) parts += MeshSceneWords::tr("in the pool");
  if (const QString words = stateWords(cell); !words.isEmpty()) parts += words;
  switch (cell.mark) {
    case Cell::Mark::None:
      break;
    case Cell::Mark::Joined:
      parts += MeshSceneWords::tr("joined since the earlier change");
      break;
    case Cell::Mark::Left:
      parts += MeshSceneWords::tr("left since the earlier change");
      break;
    case Cell::Mark::Moved:
      parts += MeshSceneWords::tr("holds another shard than after the earlier change");
      break;
  }
  return parts.join(QStringLiteral(", "));
}

MeshScene makeScene(const engine::ClusterSnapshot& snapshot, const std::string& job,
                    const std::set<ptc::DeviceId>* draftDevices,
                    const engine::PlanSummary* preview) {
  const View view = gather(snapshot, job, draftDevices, preview);
  MeshScene scene;
  scene.draft = draftDevices != nullptr;
  if (view.job) scene.jobName = QString::fromStdString(view.job->name);
  scene.emptyHint = snapshot.nodes.empty() ? MeshSceneWords::tr("No cluster yet")
                    : view.job             ? QString()
                                           : MeshSceneWords::tr("No job is running");
  for (const auto& status : snapshot.nodes) {
    MeshScene::Node node;
    node.node = status.node;
    node.name = format::node(status.node);
    node.state = status.state;
    node.host = status.host;
    node.rack = status.rack;
    // Whole seconds, and only if they are shown: an idle scene must compare equal.
    node.lastSeen = status.state == NodeState::kAlive ? 0 : std::floor(status.last_seen);
    for (const auto& device : status.devices) {
      node.cells.push_back(makeCell(view, status, device));
    }
    std::sort(node.cells.begin(), node.cells.end(),
              [](const Cell& a, const Cell& b) { return a.id < b.id; });
    node.highlighted = std::any_of(node.cells.begin(), node.cells.end(), [&](const Cell& cell) {
      return cell.inMesh &&
             (cell.state == Cell::State::Joining || cell.state == Cell::State::Receiving);
    });
    node.subtitle = subtitleOf(view, snapshot, node);
    // A node that left is shown only while the job still uses it.
    const bool inUse = std::any_of(node.cells.begin(), node.cells.end(),
                                   [](const Cell& cell) { return cell.inMesh; });
    if (node.state != NodeState::kLeft || inUse) scene.nodes.push_back(std::move(node));
  }
  std::sort(scene.nodes.begin(), scene.nodes.end(),
            [](const auto& a, const auto& b) { return a.node < b.node; });

  if (view.phase.shown) {
    const auto dead = [&](ptc::DeviceId id) {
      const Cell* cell = scene.find(id);
      return !cell || cell->state == Cell::State::Dead;
    };
    for (const auto& flow : view.preview ? view.preview->flows : view.txn->flows) {
      if (flow.source == flow.destination || flow.bytes_total == 0) continue;
      const bool lost = dead(flow.source) || dead(flow.destination);
      const bool stands = lost || flow.state == engine::FlowState::kStalled;
      scene.flows.push_back({.from = flow.source,
                             .to = flow.destination,
                             .done = flow.bytes_done,
                             .total = flow.bytes_total,
                             .rate = flow.bytes_per_second,
                             .live = view.phase.live && !lost && flow.bytes_done < flow.bytes_total,
                             .stalled = stands && flow.bytes_done < flow.bytes_total});
    }
    std::sort(scene.flows.begin(), scene.flows.end(), [](const auto& a, const auto& b) {
      return std::pair(a.from, a.to) < std::pair(b.from, b.to);
    });
  }
  // If two meshes are visible, the one with more pieces defines the legend.
  const ptc::MeshShape* now = view.now.shape();
  const ptc::MeshShape* next = view.next.shape();
  const auto pieces = [](const ptc::MeshShape& shape) {
    return shape[ptc::Axis::kTp] * shape[ptc::Axis::kPp];
  };
  const bool takesNext =
      next != nullptr && (now == nullptr || view.preview || pieces(*next) > pieces(*now));
  if (const ptc::MeshShape* shape = takesNext ? next : now) scene.shape = *shape;
  if (takesNext && now != nullptr) scene.splitFrom = *now;
  for (const auto& each : snapshot.jobs) {
    if (each.name == job) continue;
    scene.jobStates[QString::fromStdString(each.name)] = format::text(each.state);
  }
  groupScene(&scene, GroupBy::Node);
  colourScene(&scene, ColourBy::Piece);
  return scene;
}

}  // namespace tessera::ui
