// SPDX-License-Identifier: GPL-3.0-or-later
/// \file
/// What the frames of a MeshScene contain.

#include <QCoreApplication>
#include <algorithm>
#include <map>
#include <set>
#include <unordered_map>
#include <utility>

#include "ui/canvas/mesh_scene.h"
#include "ui/format.h"

namespace tessera::ui {
namespace {

using Group = MeshScene::Group;
using Place = MeshScene::Place;
using MeshCell = MeshScene::Cell;

struct GroupWords {
  Q_DECLARE_TR_FUNCTIONS(tessera::ui::MeshScene)
};

bool isTroubled(engine::NodeState state) {
  switch (state) {
    case engine::NodeState::kSuspect:
    case engine::NodeState::kUnmanaged:
    case engine::NodeState::kDead:
    case engine::NodeState::kLeft:
      return true;
    case engine::NodeState::kJoining:
    case engine::NodeState::kAlive:
      return false;
  }
  return false;
}

Group groupOfNode(const MeshScene& scene, std::size_t index, Group::Kind kind) {
  const MeshScene::Node& node = scene.nodes[index];
  Group group;
  group.kind = kind;
  group.name = node.name;
  group.subtitle = node.subtitle;
  group.node = static_cast<int>(index);
  group.state = node.state;
  group.lastSeen = node.lastSeen;
  group.highlighted = node.highlighted && kind == Group::Kind::Mesh;
  return group;
}

// "16 GPUs on 2 nodes, 1 lost"
QString sizeText(const MeshScene& scene, const std::vector<Place>& cells) {
  std::set<int> nodes;
  int troubled = 0;
  for (const Place place : cells) {
    if (!nodes.insert(place.node).second) continue;
    troubled += isTroubled(scene.nodes[static_cast<std::size_t>(place.node)].state);
  }
  const QString gpus = format::gpus(std::ssize(cells));
  const QString spread =
      GroupWords::tr("%1 on %2", "16 GPUs on 2 nodes").arg(gpus, format::nodes(std::ssize(nodes)));
  return troubled == 0 ? spread : GroupWords::tr("%1, %2 in trouble").arg(spread).arg(troubled);
}

void finish(const MeshScene& scene, Group* group) {
  group->subtitle = sizeText(scene, group->cells);
  group->highlighted = std::ranges::any_of(group->cells, [&](Place place) {
    const MeshCell& cell = scene.at(place);
    return cell.state == MeshCell::State::Joining || cell.state == MeshCell::State::Receiving;
  });
  const int first = group->cells.front().node;
  if (std::ranges::all_of(group->cells, [&](Place place) { return place.node == first; })) {
    group->node = first;
  }
}

// Hosts in the order of their first node. Without a name a node is its own host.
std::vector<Group> hostGroups(const MeshScene& scene, const std::vector<Place>& cells) {
  std::vector<Group> groups;
  std::unordered_map<std::string, std::size_t> known;
  for (const Place place : cells) {
    const MeshScene::Node& node = scene.nodes[static_cast<std::size_t>(place.node)];
    const std::string key = node.host.empty() ? node.name.toStdString() : node.host;
    const auto [found, isNew] = known.try_emplace(key, groups.size());
    if (isNew) {
      Group group;
      group.name = node.host.empty() ? node.name : QString::fromStdString(node.host);
      groups.push_back(std::move(group));
    }
    groups[found->second].cells.push_back(place);
  }
  return groups;
}

// Racks in the order of their first node; then the nodes without one.
std::vector<Group> rackGroups(const MeshScene& scene, const std::vector<Place>& cells) {
  std::vector<Group> groups;
  std::unordered_map<std::string, std::size_t> known;
  std::vector<Place> others;
  for (const Place place : cells) {
    const std::string& rack = scene.nodes[static_cast<std::size_t>(place.node)].rack;
    if (rack.empty()) {
      others.push_back(place);
      continue;
    }
    const auto [found, isNew] = known.try_emplace(rack, groups.size());
    if (isNew) groups.emplace_back().name = QString::fromStdString(rack);
    groups[found->second].cells.push_back(place);
  }
  if (!others.empty()) {
    Group& group = groups.emplace_back();
    group.name = GroupWords::tr("no rack");
    group.cells = std::move(others);
  }
  return groups;
}

// Stages in their order, each by rank; then the cells without a stage.
std::vector<Group> stageGroups(const MeshScene& scene, const std::vector<Place>& cells) {
  std::map<int, std::vector<Place>> stages;
  std::vector<Place> others;
  for (const Place place : cells) {
    const MeshCell& cell = scene.at(place);
    (cell.piece ? stages[cell.pp] : others).push_back(place);
  }
  std::vector<Group> groups;
  for (auto& [stage, places] : stages) {
    std::ranges::stable_sort(places, {},
                             [&](Place place) { return scene.at(place).rank.value_or(0); });
    Group group;
    group.name = QStringLiteral("pp %1").arg(stage);
    group.cells = std::move(places);
    groups.push_back(std::move(group));
  }
  if (!others.empty()) {
    Group group;
    group.name = GroupWords::tr("no stage yet");
    group.cells = std::move(others);
    groups.push_back(std::move(group));
  }
  return groups;
}

int coordinateAlong(const MeshCell& cell, ptc::Axis axis) {
  switch (axis) {
    case ptc::Axis::kPp:
      return cell.pp;
    case ptc::Axis::kDp:
      return cell.dp;
    case ptc::Axis::kEp:
      return cell.ep;
    case ptc::Axis::kCp:
      return cell.cp;
    case ptc::Axis::kTp:
      return cell.tp;
  }
  return 0;
}

/// Whether the rank of the cell communicates with others.
bool hasRank(const MeshCell& cell) {
  return cell.inMesh && !cell.taken && cell.piece && !cell.upcoming;
}

void noteMark(MeshCell* cell) {
  const bool rests =
      cell->state == MeshCell::State::Healthy || cell->state == MeshCell::State::Idle;
  if (!rests || cell->taken) return;
  switch (cell->mark) {
    case MeshCell::Mark::None:
      if (cell->inMesh) cell->note = GroupWords::tr("same", "the shard of a GPU, as before");
      return;
    case MeshCell::Mark::Joined:
      cell->note = GroupWords::tr("joined");
      return;
    case MeshCell::Mark::Left:
      cell->note = GroupWords::tr("left", "a GPU has left the job");
      return;
    case MeshCell::Mark::Moved:
      cell->note = GroupWords::tr("other shard");
      return;
  }
}

}  // namespace

bool MeshScene::hasRacks() const {
  return std::ranges::any_of(nodes, [](const Node& node) { return !node.rack.empty(); });
}

QString text(GroupBy by) {
  switch (by) {
    case GroupBy::Node:
      return GroupWords::tr("node");
    case GroupBy::Host:
      return GroupWords::tr("host");
    case GroupBy::Rack:
      return GroupWords::tr("rack");
    case GroupBy::Stage:
      return GroupWords::tr("pipeline stage (pp)");
  }
  Q_UNREACHABLE();
}

void groupScene(MeshScene* scene, GroupBy by) {
  scene->groupBy = by;
  scene->groups.clear();
  // While no device is known, all nodes are in the mesh.
  const bool unknown =
      std::ranges::all_of(scene->nodes, [](const auto& node) { return node.cells.empty(); });
  std::vector<Place> inMesh;
  std::map<QString, Group> jobs;
  std::vector<Group> pool;
  for (std::size_t n = 0; n < scene->nodes.size(); ++n) {
    const MeshScene::Node& node = scene->nodes[n];
    Group idle = groupOfNode(*scene, n, unknown ? Group::Kind::Mesh : Group::Kind::Pool);
    idle.skeleton = node.cells.empty();
    Group own = groupOfNode(*scene, n, Group::Kind::Mesh);
    for (std::size_t c = 0; c < node.cells.size(); ++c) {
      const MeshCell& cell = node.cells[c];
      const Place place{static_cast<int>(n), static_cast<int>(c)};
      const bool framed = !cell.taken && by != GroupBy::Stage && scene->framed.contains(cell.id);
      if (cell.inMesh || framed) {
        (by == GroupBy::Node ? own.cells : inMesh).push_back(place);
      } else if (cell.taken) {
        jobs[cell.owner].cells.push_back(place);
      } else {
        idle.cells.push_back(place);
      }
    }
    if (!own.cells.empty()) scene->groups.push_back(std::move(own));
    if (!idle.cells.empty() || idle.skeleton) pool.push_back(std::move(idle));
  }
  if (by != GroupBy::Node) {
    scene->groups = by == GroupBy::Host   ? hostGroups(*scene, inMesh)
                    : by == GroupBy::Rack ? rackGroups(*scene, inMesh)
                                          : stageGroups(*scene, inMesh);
    for (Group& group : scene->groups) finish(*scene, &group);
  }
  for (auto& [name, group] : jobs) {
    group.kind = Group::Kind::Job;
    group.name = name;
    finish(*scene, &group);
    group.highlighted = false;
    if (const auto state = scene->jobStates.find(name); state != scene->jobStates.end()) {
      group.subtitle = state->second + QStringLiteral(" · ") + group.subtitle;
    }
    scene->groups.push_back(std::move(group));
  }
  std::ranges::move(pool, std::back_inserter(scene->groups));
}

void markScene(MeshScene* scene, const std::vector<ptc::DeviceId>& joined,
               const std::vector<ptc::DeviceId>& left, const std::vector<ptc::DeviceId>& moved) {
  std::map<ptc::DeviceId, MeshCell::Mark> marks;
  for (const ptc::DeviceId id : joined) marks[id] = MeshCell::Mark::Joined;
  for (const ptc::DeviceId id : left) marks[id] = MeshCell::Mark::Left;
  for (const ptc::DeviceId id : moved) marks[id] = MeshCell::Mark::Moved;
  for (MeshScene::Node& node : scene->nodes) {
    for (MeshCell& cell : node.cells) {
      const auto found = marks.find(cell.id);
      cell.mark = found == marks.end() ? MeshCell::Mark::None : found->second;
      noteMark(&cell);
    }
  }
}

std::set<ptc::DeviceId> groupAlong(const MeshScene& scene, ptc::DeviceId device, ptc::Axis axis) {
  std::set<ptc::DeviceId> group;
  const MeshCell* of = scene.find(device);
  if (of == nullptr || !hasRank(*of)) return group;
  for (const MeshScene::Node& node : scene.nodes) {
    for (const MeshCell& cell : node.cells) {
      const bool isMember =
          hasRank(cell) && std::ranges::all_of(ptc::kAxes, [&](ptc::Axis each) {
            return each == axis || coordinateAlong(cell, each) == coordinateAlong(*of, each);
          });
      if (isMember) group.insert(cell.id);
    }
  }
  if (group.size() == 1) group.clear();
  return group;
}

void alignScenes(MeshScene* one, MeshScene* other) {
  std::set<ptc::DeviceId> either;
  for (const MeshScene* scene : {one, other}) {
    for (const MeshScene::Node& node : scene->nodes) {
      for (const MeshCell& cell : node.cells) {
        if (cell.inMesh) either.insert(cell.id);
      }
    }
  }
  for (MeshScene* scene : {one, other}) {
    scene->framed = either;
    groupScene(scene, scene->groupBy);
  }
}

}  // namespace tessera::ui
