// SPDX-License-Identifier: Apache-2.0
#include "ptc/plan/auction.h"

#include <algorithm>
#include <functional>
#include <limits>
#include <optional>
#include <queue>
#include <utility>

namespace tessera::ptc {
namespace {

__extension__ using Wide = __int128;

std::size_t At(int index) { return static_cast<std::size_t>(index); }

/// There are as many persons as objects: those who were added want nothing, and a price of an
/// object that nobody needs is then never above the others' for long.
class Auctioneer {
 public:
  Auctioneer(const std::vector<std::vector<Wish>>& persons, int num_objects)
      : persons_(persons),
        count_(At(num_objects)),
        price_(count_),
        owner_(count_),
        object_of_(count_) {}

  Auction Run(std::int64_t last_step) && {
    std::int64_t step = 1;
    for (const auto& wishes : persons_) {
      for (const Wish& wish : wishes) step = std::max(step, wish.value / 4);
    }
    constexpr std::int64_t kScale = 5;
    for (step = std::max(step, last_step);; step = std::max(step / kScale, last_step)) {
      Round(step);
      if (step == last_step) break;
    }
    return Result();
  }

 private:
  using Cheap = std::pair<std::int64_t, int>;  // price, object

  const std::vector<Wish>& WishesOf(std::size_t person) const {
    return person < persons_.size() ? persons_[person] : nothing_;
  }

  /// All objects anew, at the prices that they have.
  void Round(std::int64_t step) {
    owner_.assign(count_, std::nullopt);
    cheapest_ = {};
    for (std::size_t j = 0; j < count_; ++j) cheapest_.emplace(price_[j], static_cast<int>(j));
    std::vector<std::size_t> without;
    for (std::size_t i = count_; i-- > 0;) without.push_back(i);
    while (!without.empty()) {
      const std::size_t person = without.back();
      without.pop_back();
      const int object = Bid(person, step);
      if (const auto before = owner_[At(object)]) without.push_back(*before);
      owner_[At(object)] = person;
      object_of_[person] = object;
    }
  }

  /// The object that is worth most; its price rises to where another is as good, and by a step.
  int Bid(std::size_t person, std::int64_t step) {
    constexpr std::int64_t kNone = std::numeric_limits<std::int64_t>::min();
    int best = -1;
    std::int64_t first = kNone;
    std::int64_t second = kNone;
    const auto look = [&](int object, std::int64_t gain) {
      if (gain > first) {
        second = first;
        first = gain;
        best = object;
      } else if (object != best) {
        second = std::max(second, gain);
      }
    };
    for (const Wish& wish : WishesOf(person))
      look(wish.object, wish.value - price_[At(wish.object)]);
    // Of all others, worth 0, only the cheapest can be best or second best. One that is listed too
    // is looked at again with less than it is worth: that changes nothing.
    for (const auto& [price, object] : TwoCheapest()) look(object, -price);
    if (second == kNone) second = first;  // a single object
    price_[At(best)] += first - second + step;
    cheapest_.emplace(price_[At(best)], best);
    return best;
  }

  /// Entries of prices that have risen since are dropped here.
  std::vector<Cheap> TwoCheapest() {
    std::vector<Cheap> two;
    while (two.size() < 2 && !cheapest_.empty()) {
      const Cheap cheap = cheapest_.top();
      cheapest_.pop();
      if (price_[At(cheap.second)] == cheap.first && (two.empty() || two[0] != cheap)) {
        two.push_back(cheap);
      }
    }
    for (const Cheap& cheap : two) cheapest_.push(cheap);
    return two;
  }

  Auction Result() const {
    Auction auction;
    Wide bound = 0;
    const std::int64_t lowest = *std::min_element(price_.begin(), price_.end());
    for (std::size_t i = 0; i < count_; ++i) {
      std::int64_t gain = -lowest;
      for (const Wish& wish : WishesOf(i)) {
        gain = std::max(gain, wish.value - price_[At(wish.object)]);
        if (wish.object == object_of_[i]) auction.value += wish.value;
      }
      bound += gain + price_[i];
      if (i < persons_.size()) auction.object_of.push_back(object_of_[i]);
    }
    constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();
    auction.bound = bound > kMost ? kMost : static_cast<std::int64_t>(bound);
    return auction;
  }

  const std::vector<std::vector<Wish>>& persons_;
  const std::vector<Wish> nothing_;
  const std::size_t count_;
  std::vector<std::int64_t> price_;                // by object
  std::vector<std::optional<std::size_t>> owner_;  // by object
  std::vector<int> object_of_;                     // by person
  std::priority_queue<Cheap, std::vector<Cheap>, std::greater<>> cheapest_;
};

}  // namespace

Auction HoldAuction(const std::vector<std::vector<Wish>>& persons, int num_objects,
                    std::int64_t step) {
  if (num_objects == 0) return {};
  return Auctioneer(persons, num_objects).Run(step);
}

}  // namespace tessera::ptc
