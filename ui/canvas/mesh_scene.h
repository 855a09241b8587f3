// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

/// \file
/// What MeshView draws, as plain values: node frames with GPU cells, flows between them, a legend.
/// Bytes are integers, rates are bytes per second, times are seconds.

#include <QString>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "engine/cluster/snapshot.h"
#include "ptc/mesh.h"
#include "ui/canvas/swatches.h"

namespace tessera::ui {

/// The meaning of a cell's colour.
enum class ColourBy {
  Piece,    // pipeline stage and tensor slice together
  Replica,  // data-parallel index
  Stage,    // pipeline stage
  Slice,    // tensor slice
  Host,     // node
  Memory    // used fraction, a quantity
};
inline constexpr int kNumColourings = 6;

/// What a frame of the mesh contains.
enum class GroupBy {
  Node,
  Host,  // the nodes that share the memory of a machine
  Rack,  // the nodes of a rack
  Stage  // the devices of a pipeline stage
};
inline constexpr int kNumGroupings = 4;

struct MeshScene {
  struct Cell {
    /// What the cell does now. If several apply, the last of them in this list is shown.
    enum class State {
      Idle,
      Healthy,
      Staying,
      Joining,
      Leaving,
      Sending,
      Receiving,
      Stalled,
      Loading,
      Suspect,
      Dead
    };
    ptc::DeviceId id;
    bool inMesh = false;       // in the mesh or in the pool, never in both
    bool taken = false;        // runs another job: in its frame, cannot be moved
    QString owner;             // the job of a taken device
    std::optional<int> rank;   // in the shown layout
    std::optional<int> piece;  // (pp, tp) as an index
    /// Colour and pattern by the scene's colouring (swatches.h); percent for a quantity.
    std::optional<int> swatch = {};
    int dp = 0, tp = 0, pp = 0, ep = 0, cp = 0;  // valid if `piece` is set
    Swatches swatches = {};                      // likewise
    bool upcoming = false;  // rank and coordinates are of the mesh to which a running change leads
    QString label;                               // of the piece: "tp 0", "pp 1 · tp 0"
    QString replica;                             // which replica of it: "dp 1", "dp 1 · cp 0"
    std::int64_t used = 0;
    std::int64_t total = 0;
    State state = State::Idle;
    double progress = 0;        // 0 to 1, of `incoming`
    std::int64_t incoming = 0;  // bytes that the transaction sends to this device
    bool slow = false;          // its rank computes longer than its peers: they wait for it
    QString note;               // "rank 2", "stays", "receives 9.4 MiB", "62 %"
    /// Against the earlier layout, while two are compared.
    enum class Mark { None, Joined, Left, Moved };
    Mark mark = Mark::None;
    friend bool operator==(const Cell&, const Cell&) = default;
  };
  struct Node {
    std::int32_t node = 0;
    QString name;      // "n1"
    QString subtitle;  // "4 GPUs · 12.1 GB/s", "+4 GPUs"
    std::string host = {};
    std::string rack = {};  // empty: not known
    engine::NodeState state = engine::NodeState::kAlive;
    double lastSeen = 0;       // seconds ago
    bool highlighted = false;  // some of its GPUs join or receive
    std::vector<Cell> cells;   // by device index
    friend bool operator==(const Node&, const Node&) = default;
  };
  /// The position of a cell in `nodes`.
  struct Place {
    int node = 0, cell = 0;
    friend bool operator==(const Place&, const Place&) = default;
  };
  /// A frame of the mesh, the frame of another job, or the idle devices of a node.
  struct Group {
    enum class Kind { Mesh, Job, Pool };
    Kind kind = Kind::Mesh;
    QString name;      // "n1", "host 10.0.0.4", "pp 0", "gpt-mini-b"
    QString subtitle;  // "4 GPUs · 12.1 GB/s", "16 GPUs on 2 nodes", "running · 8 GPUs"
    std::optional<int> node = {};  // its index in `nodes`, if all cells are of one node
    engine::NodeState state = engine::NodeState::kAlive;  // of that node
    double lastSeen = 0;                                  // of that node
    bool highlighted = false;
    bool skeleton = false;     // of a node whose devices are not known yet
    std::vector<Place> cells;  // in the order in which they are drawn
    friend bool operator==(const Group&, const Group&) = default;
  };
  struct Flow {
    ptc::DeviceId from, to;
    std::int64_t done = 0;
    std::int64_t total = 0;
    double rate = 0;
    bool live = false;     // bytes move now; otherwise planned, drawn dashed
    bool stalled = false;  // no bytes for 3 s, or one end is lost: dashed, no dots
    bool finished() const { return total > 0 && done >= total; }  // not drawn, but keeps its lane
    friend bool operator==(const Flow&, const Flow&) = default;
  };
  struct LegendEntry {
    int swatch = 0;
    QString text;  // "tp 0", "pp 1 · tp 0", "dp 3", "n1", "40 %"
    friend bool operator==(const LegendEntry&, const LegendEntry&) = default;
  };

  std::vector<Node> nodes;    // by number
  std::vector<Group> groups;  // mesh, other jobs, pool; every cell is in exactly one
  std::vector<Flow> flows;    // by (from, to)
  std::vector<LegendEntry> legend;
  ColourBy colourBy = ColourBy::Piece;
  GroupBy groupBy = GroupBy::Node;
  std::map<QString, QString> jobStates = {};  // of the other jobs: "running"
  std::optional<ptc::MeshShape> shape = {};   // the mesh of the legend
  /// The mesh whose hues the shards of `shape` keep; nothing if `shape` replaces none.
  std::optional<ptc::MeshShape> splitFrom = {};
  std::optional<int> isolated = {};           // cells of all other swatches are faded
  /// Devices of the layout beside this one. The frames of the mesh show them, too, so that both
  /// layouts have the same frames.
  std::set<ptc::DeviceId> framed = {};
  bool draft = false;
  QString jobName;    // empty: no job
  QString emptyHint;  // shown in the middle if there are no nodes
  friend bool operator==(const MeshScene&, const MeshScene&) = default;

  /// Returns the cell of `device`, or nullptr. O(log nodes).
  const Cell* find(ptc::DeviceId device) const;
  const Cell& at(Place place) const {
    return nodes[static_cast<std::size_t>(place.node)].cells[static_cast<std::size_t>(place.cell)];
  }
  /// Returns whether a flow is transferring bytes.
  bool moving() const;
  /// Returns whether the rack of any node is known.
  bool hasRacks() const;
};

/// Colours the cells of the mesh and the legend by `by`. Resets an isolated swatch that the new
/// colouring does not have.
void colourScene(MeshScene* scene, ColourBy by);
/// Collects the cells in groups. Devices of the mesh are grouped by `by`, other jobs have a group
/// each, and idle devices one per node. Devices whose stage or rack is not known are last.
void groupScene(MeshScene* scene, GroupBy by);
/// Returns the devices of the mesh that differ from `device` in the coordinate along `axis` only,
/// with `device` itself: those with which its rank communicates along that axis. Empty if `device`
/// has no place in the mesh, or the mesh is not cut along `axis`. Devices that join for a running
/// change are in no group yet.
std::set<ptc::DeviceId> groupAlong(const MeshScene& scene, ptc::DeviceId device, ptc::Axis axis);
/// Marks the devices that differ from an earlier layout, also in the notes of the cells. Notes of
/// a running transaction stay.
void markScene(MeshScene* scene, const std::vector<ptc::DeviceId>& joined,
               const std::vector<ptc::DeviceId>& left, const std::vector<ptc::DeviceId>& moved);
/// Gives the shards of `scene` the hues of those of `from` that they are split or merged from.
void inheritColours(MeshScene* scene, const ptc::MeshShape& from);
/// Prepares two scenes of one cluster to be drawn beside each other: each device of either mesh is
/// in the same frame in both. Stages are frames of one layout and stay as they are.
void alignScenes(MeshScene* one, MeshScene* other);
/// Replaces the progress of each transfer by its size, for a moment whose progress is not known.
void hideProgress(MeshScene* scene);
/// Returns "shard (tp × pp)", "replica (dp)", …
QString text(ColourBy by);
/// Returns "node", "host", "rack", "pipeline stage (pp)".
QString text(GroupBy by);

/// Describes a cell completely, for tooltips and screen readers: "n1 GPU 3, rank 11, DP 1 TP 1
/// PP 0, receiving 62 percent".
QString describe(const MeshScene::Cell& cell);

/// Returns the scene of `job` in `snapshot`.
///
/// Live (`draftDevices` is null): a device is in the mesh if it belongs to the job or, during a
/// transaction, joins it. Coordinates come from the committed mesh; those of a joining device come
/// from the new mesh. Flows are those of the running transaction.
///
/// Draft (`draftDevices` is given): a device is in the mesh if it is in the set. With `preview`,
/// ranks and coordinates follow the order of its `to_devices`, and its flows are drawn. A preview
/// of another job or of other devices is ignored. Without a preview joining cells have no piece.
///
/// Devices of other jobs are `taken`. If `job` is empty, every other device is in the pool. Frames
/// are nodes; groupScene() changes that.
MeshScene makeScene(const engine::ClusterSnapshot& snapshot, const std::string& job,
                    const std::set<ptc::DeviceId>* draftDevices = nullptr,
                    const engine::PlanSummary* preview = nullptr);

}  // namespace tessera::ui
