// SPDX-License-Identifier: Apache-2.0
#include "ptc/plan/exposure.h"

#include <optional>
#include <vector>

#include "ptc/base/at.h"
#include "ptc/base/check.h"

namespace tessera::ptc {
namespace {

/// The domains of some ranks, as far as it matters: none, one, or several.
class DomainsOfRanks {
 public:
  void Add(std::int32_t domain) {
    several_ = several_ || (one_ && *one_ != domain);
    one_ = domain;
  }
  void Add(const DomainsOfRanks& other) {
    several_ = several_ || other.several_;
    if (other.one_) Add(*other.one_);
  }
  std::optional<std::int32_t> only() const { return several_ ? std::nullopt : one_; }

 private:
  std::optional<std::int32_t> one_;
  bool several_ = false;
};

/// By list of axes: the domains of the ranks of each (stage, part).
std::vector<std::vector<DomainsOfRanks>> DomainsByPart(const RankParts& ranks,
                                                       std::span<const std::int32_t> domain_of) {
  std::vector<std::vector<DomainsOfRanks>> by_part;
  for (int axes = 0; axes < ranks.num_axes_ids(); ++axes) {
    const int parts = ranks.num_parts(axes);
    auto& domains = by_part.emplace_back(At(ranks.num_stages()) * At(parts));
    for (int rank = 0; rank < ranks.mesh().num_ranks(); ++rank) {
      const int place = ranks.StageOf(rank) * parts + ranks.PartOf(axes, rank);
      domains[At(place)].Add(domain_of[At(rank)]);
    }
  }
  return by_part;
}

}  // namespace

std::map<std::int32_t, std::int64_t> HeldOnlyIn(const Kinds& kinds,
                                                std::span<const std::int32_t> domain_of) {
  TESSERA_DCHECK(std::ssize(domain_of) == kinds.to.mesh().num_ranks());
  const auto by_part = DomainsByPart(kinds.to, domain_of);
  std::map<std::int32_t, std::int64_t> bytes;
  for (const KindOnStages& staged : kinds.staged) {
    const Kind& kind = kinds.kinds[At(staged.kind)];
    const auto parts = At(kinds.to.num_parts(kind.to_axes));
    for (std::size_t c = 0; c < kind.cells.size(); ++c) {
      DomainsOfRanks holders;
      for (const std::int64_t stage : kinds.to.stages(staged.to_stages)) {
        for (const std::size_t part : kind.cells[c].needers.ToVector()) {
          holders.Add(by_part[At(kind.to_axes)][static_cast<std::size_t>(stage) * parts + part]);
        }
      }
      if (const auto domain = holders.only()) {
        bytes[*domain] += kind.elements[c] * SizeBytes(kind.to_dtype) * staged.num_tensors;
      }
    }
  }
  return bytes;
}

}  // namespace tessera::ptc
