// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

/// \file
/// What MeshView draws, as plain values: node frames with GPU cells, flows between them, a legend.
/// Bytes are integers, rates are bytes per second, times are seconds.

#include <QString>
#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "engine/cluster/snapshot.h"
#include "ptc/mesh.h"

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
    bool taken = false;        // runs another job: shown in the pool, cannot be moved
    std::optional<int> rank;   // in the shown layout
    std::optional<int> piece;  // (pp, tp) as an index
    /// Index of colour and pattern by the scene's colouring; percent for a quantity.
    std::optional<int> swatch = {};
    int dp = 0, tp = 0, pp = 0, ep = 0, cp = 0;  // valid if `piece` is set
    QString label;                               // of the piece: "tp 0", "pp 1 · tp 0"
    QString replica;                             // which replica of it: "dp 1", "dp 1 · cp 0"
    std::int64_t used = 0;
    std::int64_t total = 0;
    State state = State::Idle;
    double progress = 0;        // 0 to 1, of `incoming`
    std::int64_t incoming = 0;  // bytes that the transaction sends to this device
    QString note;               // "rank 2", "stays", "receives 9.4 MiB", "62 %"
    friend bool operator==(const Cell&, const Cell&) = default;
  };
  struct Node {
    std::int32_t node = 0;
    QString name;      // "n1"
    QString subtitle;  // "4 GPUs · 12.1 GB/s", "+4 GPUs"
    engine::NodeState state = engine::NodeState::kAlive;
    double lastSeen = 0;       // seconds ago
    bool highlighted = false;  // some of its GPUs join or receive
    std::vector<Cell> cells;   // by device index
    friend bool operator==(const Node&, const Node&) = default;
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

  std::vector<Node> nodes;  // by number
  std::vector<Flow> flows;  // by (from, to)
  std::vector<LegendEntry> legend;
  ColourBy colourBy = ColourBy::Piece;
  std::optional<ptc::MeshShape> shape = {};  // the mesh of the coordinates
  std::optional<int> isolated = {};          // cells of all other swatches are faded
  bool draft = false;
  QString jobName;    // empty: no job
  QString emptyHint;  // shown in the middle if there are no nodes
  friend bool operator==(const MeshScene&, const MeshScene&) = default;

  /// Returns the cell of `device`, or nullptr. O(log nodes).
  const Cell* find(ptc::DeviceId device) const;
  /// Returns whether a flow is transferring bytes.
  bool moving() const;
};

/// Colours the cells of the mesh and the legend by `by`. Resets an isolated swatch that the new
/// colouring does not have.
void colourScene(MeshScene* scene, ColourBy by);
/// Replaces the progress of each transfer by its size, for a moment whose progress is not known.
void hideProgress(MeshScene* scene);
/// Returns "shard (tp × pp)", "replica (dp)", …
QString text(ColourBy by);

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
/// Devices of other jobs are `taken`. If `job` is empty, every device is in the pool.
MeshScene makeScene(const engine::ClusterSnapshot& snapshot, const std::string& job,
                    const std::set<ptc::DeviceId>* draftDevices = nullptr,
                    const engine::PlanSummary* preview = nullptr);

}  // namespace tessera::ui
