// SPDX-License-Identifier: Apache-2.0
#include "engine/vfs/content.h"

#include <algorithm>
#include <array>
#include <cstring>

#include "engine/copy/cell_view.h"
#include "ptc/flat_range.h"

namespace tessera::engine::vfs {
namespace {

/// Shorter ranges are copied, because one more fragment would cost as much as the copy.
constexpr std::int64_t kShortestFragment = 4096;

/// Collects the fragments of one read.
class ReadCollector {
 public:
  explicit ReadCollector(std::span<std::byte> room) : room_(room) {}

  void Show(std::span<const std::byte> bytes) {
    const bool follows =
        !fragments_.empty() && fragments_.back().data() + fragments_.back().size() == bytes.data();
    if (follows) {
      fragments_.back() = {fragments_.back().data(), fragments_.back().size() + bytes.size()};
    } else if (!bytes.empty()) {
      fragments_.push_back(bytes);
    }
  }
  /// Takes the next `count` bytes of the room. The caller fills and shows them.
  std::span<std::byte> Take(std::int64_t count) {
    const auto taken = room_.subspan(used_, static_cast<std::size_t>(count));
    used_ += taken.size();
    return taken;
  }
  void Copy(std::span<const std::byte> bytes) {
    const auto to = Take(std::ssize(bytes));
    if (!to.empty()) std::memcpy(to.data(), bytes.data(), to.size());  // neither may be null
    Show(to);
  }
  Fragments Finish() { return std::move(fragments_); }

 private:
  std::span<std::byte> room_;
  std::size_t used_ = 0;
  Fragments fragments_;
};

/// A box of an entry's tensor.
Status CollectBox(const StateView& view, const FilePlan::Entry& entry, const ptc::Box& box,
                  ReadCollector& collector) {
  const std::int64_t bytes = box.num_elements() * entry.element_bytes;
  const auto direct = view.Direct(entry.tensor, box);
  if (!direct.empty() && bytes >= kShortestFragment) {
    collector.Show(direct);
  } else if (!direct.empty()) {
    collector.Copy(direct);
  } else {
    const auto room = collector.Take(bytes);
    TESSERA_RETURN_IF_ERROR(view.Read(entry.tensor, box, room));
    collector.Show(room);
  }
  return OkStatus();
}

/// Rows to which several boxes contribute: each box is read once and scattered into the rows.
Status CollectRows(const StateView& view, const FilePlan::Entry& entry, const ptc::Box& rows,
                   ReadCollector& collector) {
  const auto room = collector.Take(rows.num_elements() * entry.element_bytes);
  std::vector<std::byte> copy;
  for (const LocalTensor::Range& range : entry.held.Split(rows)) {
    auto bytes = view.Direct(entry.tensor, range.box);
    if (bytes.empty()) {
      copy.resize(static_cast<std::size_t>(range.box.num_elements() * entry.element_bytes));
      TESSERA_RETURN_IF_ERROR(view.Read(entry.tensor, range.box, copy));
      bytes = copy;
    }
    CellView(range.memory, range.box, entry.element_bytes, room.data()).Write(0, bytes);
  }
  collector.Show(room);
  return OkStatus();
}

/// Elements [first, last) of the row-major elements of an entry.
Status CollectElements(const StateView& view, const FilePlan::Entry& entry, ptc::Interval elements,
                       ReadCollector& collector) {
  for (const ptc::Box& box : ptc::FlatRange({entry.held.Memory(0)}, elements)) {
    if (!entry.held.IsInOrder(box)) {
      TESSERA_RETURN_IF_ERROR(CollectRows(view, entry, box, collector));
      continue;
    }
    for (const LocalTensor::Range& range : entry.held.Split(box)) {
      TESSERA_RETURN_IF_ERROR(CollectBox(view, entry, range.box, collector));
    }
  }
  return OkStatus();
}

/// Bytes [begin, end) of one element.
Status CollectInside(const StateView& view, const FilePlan::Entry& entry, std::int64_t element,
                     std::int64_t begin, std::int64_t end, ReadCollector& collector) {
  std::array<std::byte, 8> bytes{};
  const auto whole = std::span(bytes).first(static_cast<std::size_t>(entry.element_bytes));
  const auto boxes = ptc::FlatRange({entry.held.Memory(0)}, {element, element + 1});
  const ptc::Box box = entry.held.Split(boxes.front()).front().box;
  TESSERA_RETURN_IF_ERROR(view.Read(entry.tensor, box, whole));
  collector.Copy(
      whole.subspan(static_cast<std::size_t>(begin), static_cast<std::size_t>(end - begin)));
  return OkStatus();
}

/// Bytes [begin, end) of an entry, counted from its first.
Status CollectBytes(const StateView& view, const FilePlan::Entry& entry, std::int64_t begin,
                    std::int64_t end, ReadCollector& collector) {
  const std::int64_t size = entry.element_bytes;
  std::int64_t first = begin / size;
  const std::int64_t last = end / size;
  if (const std::int64_t skip = begin % size; skip != 0) {
    const std::int64_t stop = first == last ? end % size : size;
    TESSERA_RETURN_IF_ERROR(CollectInside(view, entry, first, skip, stop, collector));
    if (first++ == last) return OkStatus();
  }
  if (first < last) {
    TESSERA_RETURN_IF_ERROR(CollectElements(view, entry, {first, last}, collector));
  }
  if (end % size == 0) return OkStatus();
  return CollectInside(view, entry, last, 0, end % size, collector);
}

/// The bytes of [offset, end) that lie in `text`, which is at the start of the file.
std::span<const std::byte> Cut(const std::string& text, std::int64_t offset, std::int64_t end) {
  const std::int64_t stop = std::min(end, std::ssize(text));
  if (offset >= stop) return {};
  return std::as_bytes(std::span(text))
      .subspan(static_cast<std::size_t>(offset), static_cast<std::size_t>(stop - offset));
}

}  // namespace

Result<Fragments> TextContent::Read(std::int64_t offset, std::span<std::byte> room) const {
  const std::int64_t end = offset + std::min(std::ssize(room), INT64_MAX - offset);
  const auto bytes = Cut(text_, offset, end);
  return bytes.empty() ? Fragments{} : Fragments{bytes};
}

Result<ContentPtr> StateContent::Make(std::shared_ptr<const FilePlan> plan, StateViewPtr view) {
  TESSERA_TRY(std::string header, plan->Header(view->info()));
  return ContentPtr(new StateContent(std::move(plan), std::move(view), std::move(header)));
}

Result<Fragments> StateContent::Read(std::int64_t offset, std::span<std::byte> room) const {
  const std::int64_t end =
      std::min(size(), offset + std::min(std::ssize(room), INT64_MAX - offset));
  ReadCollector collector(room);
  collector.Show(Cut(header_, offset, end));
  const auto& entries = plan_->entries();
  auto entry = std::ranges::upper_bound(entries, offset, {}, &FilePlan::Entry::end);
  for (; entry != entries.end() && entry->begin < end; ++entry) {
    if (entry->begin == entry->end) continue;
    TESSERA_RETURN_IF_ERROR(CollectBytes(*view_, *entry,
                                         std::max(offset, entry->begin) - entry->begin,
                                         std::min(end, entry->end) - entry->begin, collector));
  }
  return collector.Finish();
}

}  // namespace tessera::engine::vfs
