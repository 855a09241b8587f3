// SPDX-License-Identifier: Apache-2.0
#include "agents/registrar/replica_inquiry.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "agents/move/digest_wire.h"
#include "agents/wire/tessera/wire/node.pb.h"
#include "ptc/base/counted.h"

namespace tessera::agents {
namespace {

/// One fault of a device usually reaches several groups, and one cell shows which device it is.
constexpr std::size_t kMaxQuestions = 4;

}  // namespace

std::string DifferenceText(const std::vector<GroupDifference>& differences) {
  constexpr std::size_t kMaxDevices = 8;
  const std::vector<ptc::DeviceId>& devices = differences.front().devices;
  std::string names;
  for (std::size_t i = 0; i < std::min(devices.size(), kMaxDevices); ++i) {
    names += (i == 0 ? "" : ", ") + ToString(devices[i]);
  }
  if (devices.size() > kMaxDevices) names += ", …";
  std::string text = fmt::format("replicas differ: {} do not hold the same state", names);
  if (differences.size() > 1) {
    text +=
        fmt::format(", nor do those of {}", Counted(std::ssize(differences) - 1, "other group"));
  }
  return text;
}

void ReplicaInquiry::Ask(const ReplicaSide& side, const std::vector<GroupDifference>& differences) {
  std::erase_if(questions_, [&](const Question& question) {
    return question.side.transaction != side.transaction;
  });
  for (std::size_t i = 0; i < std::min(differences.size(), kMaxQuestions); ++i) {
    Question question{side, differences[i].group, {}, {}};
    for (const ptc::DeviceId device : differences[i].devices) question.waiting.insert(device.node);
    wire::ToNode message;
    auto* ask = message.mutable_ask_group_cells();
    ask->set_transaction(side.transaction);
    ask->set_before(side.before);
    ask->set_group(question.group);
    // A node that cannot be reached is not waited for: two holders suffice to see a difference.
    std::erase_if(question.waiting,
                  [&](std::int32_t node) { return !SendTo(node, message).has_value(); });
    if (!question.waiting.empty()) questions_.push_back(std::move(question));
  }
}

void ReplicaInquiry::OnCells(std::int32_t node, const wire::GroupCells& m) {
  const auto found = std::find_if(questions_.begin(), questions_.end(), [&](const Question& q) {
    return q.side.transaction == m.transaction() && q.side.before == m.before() &&
           q.group == m.group() && q.waiting.contains(node);
  });
  if (found == questions_.end()) return;
  auto cells = DecodeDigests(m.devices());
  if (cells) {
    found->cells.insert(found->cells.end(), std::make_move_iterator(cells->begin()),
                        std::make_move_iterator(cells->end()));
  }
  found->waiting.erase(node);
  if (!found->waiting.empty()) return;
  Question question = std::move(*found);
  questions_.erase(found);
  std::ranges::sort(question.cells, {}, &DeviceDigests::device);  // nodes answer in any order
  Answer(question);
}

void ReplicaInquiry::Answer(const Question& question) const {
  const ReplicaSide& side = question.side;
  const ptc::DeviceCells cells(side.from, side.to,
                               side.before ? ptc::CellOwners::kHolders : ptc::CellOwners::kNeeders,
                               side.lost);
  const std::string text =
      DescribeDifference(side.to.collection(), cells, question.group, question.cells);
  if (text.empty()) return;
  AddEvent(engine::Severity::kError, fmt::format("txn {}", side.transaction),
           "replicas differ: " + text);
}

}  // namespace tessera::agents
