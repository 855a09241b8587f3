// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/models/tensor_layouts.h"

#include <QStringList>
#include <algorithm>
#include <map>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>

#include "ptc/cells.h"
#include "ptc/plan/kinds.h"

namespace tessera::ui {
namespace {

using Devices = std::vector<ptc::DeviceId>;

/// "h.12.attn.qkv.weight" -> "h.*.attn.qkv.weight": the number of the layer, or of the expert,
/// becomes a star, where it is a part of the name between dots.
std::string starred(const ptc::TensorSpec& spec) {
  const auto isNumber = [&](std::string_view part) {
    const bool layer = spec.place == ptc::StagePlace::kLayer && part == std::to_string(spec.layer);
    const bool expert = spec.expert && part == std::to_string(spec.expert->index);
    return layer || expert;
  };
  std::string out;
  std::string_view rest = spec.name;
  while (true) {
    const std::size_t dot = rest.find('.');
    const std::string_view part = rest.substr(0, dot);
    out += isNumber(part) ? std::string_view("*") : part;
    if (dot == std::string_view::npos) return out;
    out += '.';
    rest.remove_prefix(dot + 1);
  }
}

/// What is after the number of the layer, without a ".weight" at the end.
QString shortened(QString name) {
  const qsizetype star = name.indexOf(QLatin1String("*."));
  if (star >= 0) name = name.mid(star + 2);
  if (name.startsWith(QLatin1String("model."))) name = name.mid(6);
  if (name.endsWith(QLatin1String(".weight"))) name.chop(7);
  return name;
}

std::int64_t elementsOf(const std::vector<ptc::Box>& boxes) {
  std::int64_t count = 0;
  for (const ptc::Box& box : boxes) count += box.num_elements();
  return count;
}

/// The parts of a tensor with their devices, in the order of their first boxes. Equal parts, such
/// as replicated key and value heads, are one shard.
std::vector<Shard> shardsOf(const ptc::Layout& layout, int tensor, std::int64_t elementBytes) {
  const ptc::Parts parts = layout.PartsOf(tensor);
  std::vector<Devices> holders(parts.boxes.size());
  const ptc::DeviceMesh& mesh = layout.mesh();
  for (int rank = 0; rank < mesh.num_ranks(); ++rank) {
    const std::int64_t stage = mesh.Coordinate(rank, ptc::Axis::kPp);
    if (!std::ranges::binary_search(parts.stages, stage)) continue;
    holders[layout.PartIndex(rank, parts)].push_back(
        mesh.devices()[static_cast<std::size_t>(rank)]);
  }
  std::map<std::vector<ptc::Box>, Devices> byBoxes;
  for (std::size_t i = 0; i < parts.boxes.size(); ++i) {
    if (parts.boxes[i].empty() || holders[i].empty()) continue;
    Devices& all = byBoxes[parts.boxes[i]];
    all.insert(all.end(), holders[i].begin(), holders[i].end());
  }
  std::vector<Shard> shards;
  for (auto& [boxes, devices] : byBoxes) {
    std::ranges::sort(devices);
    shards.push_back({boxes, std::move(devices), elementsOf(boxes) * elementBytes,
                      QString::number(shards.size())});
  }
  return shards;
}

/// a, b, … z, aa, ab, …
QString letters(int number) {
  QString text;
  for (int rest = number; rest >= 0; rest = rest / 26 - 1) {
    text.prepend(QChar(u'a' + static_cast<char16_t>(rest % 26)));
  }
  return text;
}

std::vector<std::vector<ptc::Box>> boxesOf(const std::vector<Shard>& shards) {
  std::vector<std::vector<ptc::Box>> boxes;
  for (const Shard& shard : shards) boxes.push_back(shard.boxes);
  return boxes;
}

/// Shards of after that hold several parts of before are named after at most this many of them.
constexpr int kMostParts = 3;

void labelAfter(TensorPicture& picture) {
  // Cells of one shard of before that end in the same shard are one part, such as q, k and v.
  std::map<std::pair<std::size_t, std::size_t>, int> parts;
  std::map<std::size_t, int> counts;
  for (ShardCell& cell : picture.cells) {
    const auto [at, added] = parts.try_emplace({cell.from, cell.to}, 0);
    if (added) at->second = counts[cell.from]++;
    cell.part = at->second;
  }
  std::vector<QStringList> names(picture.after.size());
  for (const auto& [pair, part] : parts) {
    const bool whole = counts[pair.first] == 1;
    names[pair.second] << picture.before[pair.first].label + (whole ? QString() : letters(part));
  }
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (names[i].size() > kMostParts) {
      picture.after[i].label = names[i].first() + QStringLiteral("…") + names[i].last();
    } else {
      picture.after[i].label = names[i].join(QLatin1Char('+'));
    }
  }
}

}  // namespace

std::int64_t TensorPicture::moved() const {
  std::int64_t bytes = 0;
  for (const ShardCell& cell : cells) {
    bytes += cell.bytes * static_cast<std::int64_t>(cell.needers.size());
  }
  return bytes;
}

TensorLayouts::TensorLayouts(ptc::Layout now, std::optional<ptc::Layout> next)
    : m_now(std::move(now)), m_next(std::move(next)), m_before(m_now, m_now) {
  if (m_next) m_after.emplace(*m_next, *m_next);
  makeGroups();
}

Result<TensorLayouts::Ptr> TensorLayouts::make(ptc::Layout now, std::optional<ptc::Layout> next) {
  if (next) {
    const Status same = ptc::CheckSameTensors(now.collection(), next->collection(), false);
    if (!same) return same.error();
  }
  return Ptr(new TensorLayouts(std::move(now), std::move(next)));
}

std::int64_t TensorLayouts::bytesOf(int tensor) const {
  const ptc::TensorSpec& each = spec(tensor);
  const auto elements = ptc::NumElements(each.shape);
  return elements ? *elements * ptc::SizeBits(each.dtype) / 8 : 0;
}

void TensorLayouts::makeGroups() {
  // Two groups may have the same starred name, because the tensors of some layers differ.
  using Key = std::tuple<std::string, ptc::Shape, ptc::DType, ptc::TensorRole>;
  std::map<Key, std::size_t> known;
  const auto& tensors = m_now.collection().tensors();
  for (int t = 0; t < static_cast<int>(tensors.size()); ++t) {
    const ptc::TensorSpec& each = tensors[static_cast<std::size_t>(t)];
    const auto [at, added] =
        known.try_emplace({starred(each), each.shape, each.dtype, each.role}, m_groups.size());
    if (added) {
      m_groups.push_back({});
      m_groups.back().name = QString::fromStdString(std::get<0>(at->first));
      m_groups.back().shortName = shortened(m_groups.back().name);
    }
    TensorGroup& group = m_groups[at->second];
    group.tensors.push_back(t);
    group.bytes += bytesOf(t);
  }
  std::map<int, std::pair<std::size_t, std::size_t>> holders;  // by lookAlike
  for (TensorGroup& group : m_groups) {
    std::ranges::stable_sort(group.tensors, {}, [&](int t) {
      const ptc::TensorSpec& each = spec(t);
      return std::pair(each.layer, each.expert ? each.expert->index : 0);
    });
    bool first = true;
    for (const int tensor : group.tensors) {
      const auto [at, added] = holders.try_emplace(lookAlike(false, tensor), 0, 0);
      if (added) {
        bool any = false;
        forEachBox(false, tensor, [&](const ptc::Box&, const Devices& devices) {
          auto& [least, most] = at->second;
          least = any ? std::min(least, devices.size()) : devices.size();
          most = std::max(most, devices.size());
          any = true;
        });
      }
      group.leastHolders =
          first ? at->second.first : std::min(group.leastHolders, at->second.first);
      group.mostHolders = std::max(group.mostHolders, at->second.second);
      first = false;
    }
  }
}

TensorPicture TensorLayouts::picture(int tensor) const {
  TensorPicture picture;
  const std::int64_t elementBytes = ptc::SizeBits(spec(tensor).dtype) / 8;
  picture.before = shardsOf(m_now, tensor, elementBytes);
  if (!m_next) return picture;
  picture.after = shardsOf(*m_next, tensor, elementBytes);
  for (const ptc::Cell& cell : ptc::MakeCells({boxesOf(picture.before), boxesOf(picture.after)})) {
    if (cell.holders.empty() || cell.needers.empty()) continue;
    // Overlapping shards, as of replicated heads, are listed once for each that needs the cell.
    const std::size_t from = cell.holders.ToVector().front();
    for (const std::size_t to : cell.needers.ToVector()) {
      ShardCell out{cell.box, from, to, 0, {}, {}, cell.box.num_elements() * elementBytes};
      for (const std::size_t holder : cell.holders.ToVector()) {
        const Devices& devices = picture.before[holder].holders;
        out.sources.insert(out.sources.end(), devices.begin(), devices.end());
      }
      std::ranges::sort(out.sources);
      std::ranges::set_difference(picture.after[to].holders, out.sources,
                                  std::back_inserter(out.needers));
      picture.cells.push_back(std::move(out));
    }
  }
  labelAfter(picture);
  return picture;
}

}  // namespace tessera::ui
