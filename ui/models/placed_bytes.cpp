// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/models/placed_bytes.h"

#include <QCoreApplication>
#include <algorithm>
#include <set>
#include <utility>

namespace tessera::ui {

using engine::vfs::FilePlan;

namespace {

constexpr std::int64_t kFewRuns = 32;
constexpr std::int64_t kFineColumns = 4;

/// Returns the bytes of column `i` of `count` over [begin, end); empty if there are more columns
/// than bytes.
std::pair<std::int64_t, std::int64_t> columnRange(std::int64_t begin, std::int64_t end, int i,
                                                  int count) {
  const auto at = [&](int column) {
    return begin + static_cast<std::int64_t>(static_cast<double>(end - begin) * column / count);
  };
  return {at(i), i + 1 == count ? end : at(i + 1)};
}

}  // namespace

// --- one tensor ---

PlacedTensor::PlacedTensor(const engine::vfs::JobFacts& facts, const FilePlan& plan,
                           std::size_t entry)
    : m_begin(plan.entries()[entry].begin),
      m_placement(BytePlacement::of(facts.info.layout, plan.entries()[entry])),
      m_name(QString::fromStdString(plan.NameOf(entry))),
      m_runs(m_placement.runs(kMostRows)) {
  const auto& devices = facts.info.layout.mesh().devices();
  std::set<ptc::DeviceId> all;
  for (const std::vector<int>& ranks : m_placement.groups()) {
    std::vector<ptc::DeviceId> group;
    for (const int rank : ranks) group.push_back(devices[static_cast<std::size_t>(rank)]);
    all.insert(group.begin(), group.end());
    m_holders.push_back(std::make_shared<const std::vector<ptc::DeviceId>>(std::move(group)));
  }
  m_devices = std::make_shared<const std::vector<ptc::DeviceId>>(all.begin(), all.end());
}

std::size_t PlacedTensor::copies() const {
  std::size_t fewest = m_holders.empty() ? 0 : m_holders.front()->size();
  for (const Holders& holders : m_holders) fewest = std::min(fewest, holders->size());
  return fewest;
}

PlacedBytes::Run PlacedTensor::toRun(const BytePlacement::Run& run) const {
  return {m_begin + run.begin, m_begin + run.end, m_name, m_holders[run.group]};
}

PlacedBytes::Run PlacedTensor::at(std::int64_t byte) const {
  return toRun(m_placement.runAt(byte - m_begin));
}

PlacedBytes::Column PlacedTensor::shares(std::int64_t from, std::int64_t to) const {
  from -= m_begin;
  to -= m_begin;
  const std::int64_t run = std::max<std::int64_t>(1, m_placement.size() / numRuns());
  if (numRuns() > kFewRuns && run < kFineColumns * (to - from)) {
    const std::int64_t window = std::max(to - from, kFewRuns * run);
    const std::int64_t last = std::max<std::int64_t>(1, m_placement.size() / window) - 1;
    const std::int64_t place = std::min(from / window, last);
    from = place * window;
    to = place == last ? m_placement.size() : from + window;
  }
  Column column;
  for (const auto& [group, bytes] : m_placement.shares(from, to)) {
    column.push_back(
        {m_holders[group], static_cast<double>(bytes) / static_cast<double>(to - from)});
  }
  return column;
}

std::vector<PlacedBytes::Column> PlacedTensor::columns(int count) const {
  std::vector<Column> columns;
  for (int i = 0; i < count && m_placement.size() > 0; ++i) {
    const auto [from, to] = columnRange(begin(), end(), i, count);
    columns.push_back(from < to ? shares(from, to) : shares(from, from + 1));
  }
  return columns;
}

// --- a whole file ---

PlacedFile::PlacedFile(engine::vfs::JobFactsPtr facts, FilePlanPtr plan)
    : m_facts(std::move(facts)),
      m_plan(std::move(plan)),
      m_nobody(std::make_shared<const std::vector<ptc::DeviceId>>()) {}

const PlacedTensor& PlacedFile::tensor(std::size_t entry) const {
  const auto known = m_tensors.find(entry);
  if (known != m_tensors.end()) return known->second;
  return m_tensors.try_emplace(entry, *m_facts, *m_plan, entry).first->second;
}

std::size_t PlacedFile::entryAt(std::int64_t byte) const {
  // Skips entries without bytes at this offset.
  const auto after = std::ranges::upper_bound(m_plan->entries(), byte, {}, &FilePlan::Entry::begin);
  return static_cast<std::size_t>(after - m_plan->entries().begin()) - 1;
}

std::vector<PlacedBytes::Column> PlacedFile::columns(int count) const {
  // The cost of a tensor grows with the ranks. This number takes a few milliseconds.
  const int ranks = m_facts->info.layout.mesh().num_ranks();
  const int looks = std::clamp(60'000 / std::max(ranks, 1), 64, std::max(count, 64));
  std::vector<Column> columns;
  for (int i = 0; i < count; ++i) {
    const int look = static_cast<int>(std::int64_t{i} * looks / count);
    if (i > 0 && look == static_cast<int>(std::int64_t{i - 1} * looks / count)) {
      columns.push_back(columns.back());
      continue;
    }
    const auto [from, to] = columnRange(0, end(), look, looks);
    const std::int64_t middle = std::min(from + (to - from) / 2, end() - 1);
    if (middle < m_plan->data_begin()) {
      columns.push_back({{m_nobody, 1}});
      continue;
    }
    const std::size_t entry = entryAt(middle);
    const FilePlan::Entry& bytes = m_plan->entries()[entry];
    const std::int64_t first = std::max(from, bytes.begin);
    columns.push_back(tensor(entry).shares(first, std::max(first + 1, std::min(to, bytes.end))));
  }
  return columns;
}

PlacedBytes::Run PlacedFile::at(std::int64_t byte) const {
  return byte < m_plan->data_begin() ? row(0) : tensor(entryAt(byte)).at(byte);
}

PlacedBytes::Run PlacedFile::row(int row) const {
  if (row == 0) {
    return {0, m_plan->data_begin(),
            QCoreApplication::translate("tessera::ui::PlacedFile", "header"), m_nobody};
  }
  const auto entry = static_cast<std::size_t>(row - 1);
  const FilePlan::Entry& bytes = m_plan->entries()[entry];
  return {bytes.begin, bytes.end, QString::fromStdString(m_plan->NameOf(entry)),
          tensor(entry).devices()};
}

}  // namespace tessera::ui
