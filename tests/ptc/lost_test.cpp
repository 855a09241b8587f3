// SPDX-License-Identifier: Apache-2.0
// Plans with devices whose state cannot be read, compared with ownership element by element.
#include <QTest>
#include <algorithm>
#include <map>
#include <set>

#include "ptc/certificate/certificate.h"
#include "ptc/plan/plan.h"
#include "tests/ptc/equal_tensors.h"
#include "tests/ptc/oracle.h"
#include "tests/ptc/random_job.h"
#include "tests/ptc/volume_bound.h"
#include "tests/support/random.h"
#include "tests/support/test_main.h"

using namespace tessera::ptc;
using tessera::test::AnyJob;
using tessera::test::ElementsOf;
using tessera::test::EqualTensors;
using tessera::test::HeldElements;
using tessera::test::Job;
using tessera::test::On;
using Elements = std::vector<bool>;

namespace {

constexpr int kCases = 2000;

/// Some of the devices of the old layout, sometimes all, and one that is in no layout.
std::vector<DeviceId> AnyLost(std::mt19937_64& rng, const Layout& from) {
  std::vector<DeviceId> lost;
  const auto one_in = 1 + rng() % 4;
  for (DeviceId device : from.mesh().devices()) {
    if (rng() % one_in == 0) lost.push_back(device);
  }
  std::shuffle(lost.begin(), lost.end(), rng);
  if (rng() % 4 == 0) lost.push_back({77, 0});
  return lost;
}

/// By device: the elements of a tensor that live devices hold, or that new devices need.
std::map<DeviceId, Elements> OwnersOf(const Layout& layout, int tensor,
                                      const std::vector<DeviceId>& lost) {
  std::map<DeviceId, Elements> owners;
  for (int rank = 0; rank < layout.mesh().num_ranks(); ++rank) {
    const DeviceId device = layout.mesh().devices()[static_cast<std::size_t>(rank)];
    if (std::count(lost.begin(), lost.end(), device) > 0) continue;
    owners[device] = HeldElements(layout, rank, tensor);
  }
  return owners;
}

/// The cost of a plan by its definition.
struct Count {
  PlanBytes bytes;  // `kept` includes `device`
  std::int64_t lost_tensors = 0, lost_bytes = 0;
  std::map<DeviceId, std::int64_t> old_and_new;
};
Count CountElements(const Job& job, const Topology& topology, const std::vector<DeviceId>& lost) {
  Count count;
  const auto& tensors = job.from.collection().tensors();
  for (std::size_t t = 0; t < tensors.size(); ++t) {
    const auto held = OwnersOf(job.from, static_cast<int>(t), lost);
    const auto needed = OwnersOf(job.to, static_cast<int>(t), {});
    const std::int64_t size = SizeBytes(tensors[t].dtype);
    for (const auto* owners : {&held, &needed}) {
      for (const auto& [device, elements] : *owners) {
        count.old_and_new[device] += size * std::count(elements.begin(), elements.end(), true);
      }
    }
    std::set<std::size_t> gone;
    for (const auto& [device, elements] : needed) {
      for (std::size_t i = 0; i < elements.size(); ++i) {
        if (!elements[i]) continue;
        bool here = false;
        bool near = false;
        bool anywhere = false;
        for (const auto& [holder, theirs] : held) {
          if (!theirs[i]) continue;
          anywhere = true;
          here = here || holder == device;
          near = near || topology.HostOf(holder) == topology.HostOf(device);
        }
        if (!anywhere) gone.insert(i);
        (here       ? count.bytes.kept
         : near     ? count.bytes.host
         : anywhere ? count.bytes.network
                    : count.bytes.storage) += size;
      }
    }
    count.lost_tensors += gone.empty() ? 0 : 1;
    count.lost_bytes += size * std::ssize(gone);
  }
  return count;
}

/// Carries out a plan on sets of elements, and counts how often each element is written.
class Carrier {
 public:
  Carrier(const Job& job, const std::vector<DeviceId>& lost) : job_(job) {
    for (std::size_t t = 0; t < job.from.collection().tensors().size(); ++t) {
      held_.push_back(OwnersOf(job.from, static_cast<int>(t), lost));
      needed_.push_back(OwnersOf(job.to, static_cast<int>(t), {}));
    }
  }

  void Run(const Plan& plan) {
    for (const Move& move : plan.moves) {
      if (const auto* keep = std::get_if<Keep>(&move)) {
        Take(keep->device, keep->device, keep->tensor, keep->piece);
      } else if (const auto* local = std::get_if<LocalCopy>(&move)) {
        Take(local->device, local->device, local->tensor, local->cell);
      } else if (const auto* remote = std::get_if<RemoteCopy>(&move)) {
        good_ = good_ && remote->source != remote->device;
        Take(remote->source, remote->device, remote->tensor, remote->cell);
      } else {
        const auto& drop = std::get<Drop>(move);
        good_ = good_ && Held(drop.tensor).contains(drop.device);
      }
    }
    for (const StorageRead& read : plan.reads) {
      for (std::size_t i : IndicesOf(read.tensor, read.cell)) {
        for (const auto& [device, elements] : Held(read.tensor)) good_ = good_ && !elements[i];
        ++writes_[{read.device, read.tensor, i}];
      }
      good_ = good_ && Contains(read.piece, read.cell);
    }
    std::size_t wanted = 0;
    for (std::size_t t = 0; t < needed_.size(); ++t) {
      for (const auto& [device, elements] : needed_[t]) {
        for (std::size_t i = 0; i < elements.size(); ++i) {
          if (!elements[i]) continue;
          ++wanted;
          const auto at = writes_.find({device, static_cast<int>(t), i});
          good_ = good_ && at != writes_.end() && at->second == 1;
        }
      }
    }
    good_ = good_ && writes_.size() == wanted;
  }
  bool good() const { return good_; }

 private:
  const std::map<DeviceId, Elements>& Held(int tensor) const {
    return held_[static_cast<std::size_t>(tensor)];
  }
  std::vector<std::size_t> IndicesOf(int tensor, const Box& box) const {
    return ElementsOf(job_.from.collection().tensors()[static_cast<std::size_t>(tensor)].shape,
                      box);
  }
  void Take(DeviceId source, DeviceId device, int tensor, const Box& box) {
    const auto holder = Held(tensor).find(source);
    if (holder == Held(tensor).end()) {
      good_ = false;
      return;
    }
    for (std::size_t i : IndicesOf(tensor, box)) {
      good_ = good_ && holder->second[i];
      ++writes_[{device, tensor, i}];
    }
  }

  const Job& job_;
  std::vector<std::map<DeviceId, Elements>> held_, needed_;  // by tensor
  std::map<std::tuple<DeviceId, int, std::size_t>, int> writes_;
  bool good_ = true;
};

}  // namespace

class LostTest : public QObject {
  Q_OBJECT
 private slots:
  // Bytes, tensors and memory follow from the elements of live devices. The certificate agrees.
  void sumsAreThoseOfOwnership() {
    std::mt19937_64 rng(tessera::test::Seed());
    int from_storage = 0;
    for (int i = 0; i < kCases; ++i) {
      const Job job = AnyJob(rng);
      const auto lost = AnyLost(rng, job.from);
      Topology topology;
      if (rng() % 3 == 0) topology.host_of_node = {{1, 0}};
      const auto outline = MakeOutline(job.from, job.to, topology, {.lost = lost});
      QVERIFY(outline);
      const Count count = CountElements(job, topology, lost);
      QCOMPARE(outline->bytes.kept + outline->bytes.device, count.bytes.kept);
      QCOMPARE(outline->bytes.host, count.bytes.host);
      QCOMPARE(outline->bytes.network, count.bytes.network);
      QCOMPARE(outline->bytes.storage, count.bytes.storage);
      QCOMPARE(outline->lost_tensors, count.lost_tensors);
      QCOMPARE(outline->lost_bytes, count.lost_bytes);
      from_storage += count.bytes.storage > 0;
      std::int64_t needs = 0;
      for (const StorageNeed& need : outline->storage) needs += need.bytes;
      QCOMPARE(needs, count.bytes.storage);

      const Certificate certificate = Certify(job.from, job.to, topology, lost);
      QCOMPARE(certificate.volume, outline->bytes.moved());
      QCOMPARE(certificate.storage_volume, count.bytes.storage);
      QCOMPARE(certificate.single_source_bytes, outline->single_source_bytes);
      QCOMPARE(tessera::test::VolumeBound(job.from, job.to, lost), certificate.volume);
      QVERIFY(outline->transfer_seconds >= certificate.direct.seconds * (1 - 1e-9));
      for (std::size_t d = 0; d < outline->devices.size(); ++d) {
        const auto at = count.old_and_new.find(outline->devices[d]);
        const std::int64_t both = at == count.old_and_new.end() ? 0 : at->second;
        QVERIFY(outline->peak_memory[d] <= both);
        QVERIFY(outline->peak_memory[d] >= certificate.peak_memory[d]);
      }
    }
    QVERIFY(from_storage > kCases / 4);
  }

  // Every element of the target is written once, by a device that has it or, if there is none, from
  // storage.
  void movesAndReadsMakeTheTarget() {
    std::mt19937_64 rng(tessera::test::Seed() + 1);
    for (int i = 0; i < kCases; ++i) {
      const Job job = AnyJob(rng);
      const auto lost = AnyLost(rng, job.from);
      const auto plan = MakePlan(job.from, job.to, {}, {.lost = lost});
      QVERIFY(plan);
      Carrier carrier(job, lost);
      carrier.Run(*plan);
      QVERIFY(carrier.good());
      std::int64_t read = 0;
      for (const StorageRead& r : plan->reads) {
        const auto& spec = job.from.collection().tensors()[static_cast<std::size_t>(r.tensor)];
        read += r.cell.num_elements() * SizeBytes(spec.dtype);
      }
      QCOMPARE(read, plan->bytes.storage);
      const auto key = [](const StorageRead& r) { return std::tuple(r.tensor, r.cell, r.device); };
      QVERIFY(std::is_sorted(plan->reads.begin(), plan->reads.end(),
                             [&](const auto& a, const auto& b) { return key(a) < key(b); }));
    }
  }

  // The ranges that are named are exactly the elements without a holder.
  void lostRangesAreNamed() {
    std::mt19937_64 rng(tessera::test::Seed() + 2);
    for (int i = 0; i < kCases / 2; ++i) {
      const Job job = AnyJob(rng);
      const auto lost = AnyLost(rng, job.from);
      const auto outline = MakeOutline(job.from, job.to, {}, {.lost = lost});
      std::set<std::pair<int, std::size_t>> named;
      const auto ranges = LostRanges(*outline, 100000);
      for (const LostRange& range : ranges) {
        const auto& spec = job.from.collection().tensors()[static_cast<std::size_t>(range.tensor)];
        for (std::size_t e : ElementsOf(spec.shape, range.box)) {
          QVERIFY(named.emplace(range.tensor, e).second);
        }
      }
      std::set<std::pair<int, std::size_t>> gone;
      for (int t = 0; t < std::ssize(job.from.collection().tensors()); ++t) {
        const auto live = OwnersOf(job.from, t, lost);
        const std::size_t elements = HeldElements(job.from, 0, t).size();
        for (std::size_t e = 0; e < elements; ++e) {
          const bool is_held = std::any_of(live.begin(), live.end(),
                                           [e](const auto& owner) { return owner.second[e]; });
          if (!is_held) gone.emplace(t, e);
        }
      }
      QVERIFY(named == gone);
      const std::size_t some = rng() % 4;
      const auto first = LostRanges(*outline, some);
      QCOMPARE(first.size(), std::min(some, ranges.size()));
      QVERIFY(std::equal(first.begin(), first.end(), ranges.begin()));
    }
  }

  // No loss, or the loss of a device without state, changes nothing. Plans of other losses differ.
  void onlyHoldersCount() {
    std::mt19937_64 rng(tessera::test::Seed() + 3);
    for (int i = 0; i < 300; ++i) {
      const Job job = AnyJob(rng);
      const auto plain = MakeOutline(job.from, job.to, {});
      const auto same = MakeOutline(job.from, job.to, {}, {.lost = {{77, 0}, {78, 3}}});
      QCOMPARE(same->hash, plain->hash);
      QVERIFY(same->flows == plain->flows && same->lost.empty());
      QCOMPARE(plain->bytes.storage, 0);
      const DeviceId device = job.from.mesh().devices().front();
      const auto other = MakeOutline(job.from, job.to, {}, {.lost = {device, device}});
      QVERIFY(other->hash != plain->hash);
      QCOMPARE(other->lost, std::vector{device});
    }
  }

  // State that a device held before it failed does not attract ranks.
  void placementCountsLiveBytesOnly() {
    const auto w = EqualTensors(1, {120}, {{Axis::kTp}});
    const Layout from = On("dp=2,tp=2 on n0g0,n1g0,n2g0,n3g0", w);
    const std::vector<DeviceId> devices = {{0, 0}, {1, 0}, {2, 0}, {3, 0}};
    const std::vector<DeviceId> lost = {{0, 0}, {3, 0}};
    const MeshShape shape = *ParseMeshShape("tp=2");
    const auto placed = FindPlacement(from, shape, w, devices, {}, {}, lost);
    QVERIFY(placed);
    QCOMPARE(placed->mesh.devices(), (std::vector<DeviceId>{{2, 0}, {1, 0}}));
    QCOMPARE(placed->in_place_bytes, 120);
    std::mt19937_64 rng(tessera::test::Seed() + 4);
    for (int i = 0; i < 500; ++i) {
      const Job job = AnyJob(rng);
      const auto gone = AnyLost(rng, job.from);
      const auto found = FindPlacement(job.from, job.to.mesh().shape(), job.to.collection_ptr(),
                                       job.to.mesh().devices(), {}, {}, gone);
      if (!found) continue;  // the job does not use the default stages
      const Layout to = *Layout::Make(found->mesh, job.to.collection_ptr());
      const auto outline = MakeOutline(job.from, to, {}, {.lost = gone});
      QCOMPARE(found->in_place_bytes, outline->bytes.kept + outline->bytes.device);
    }
  }

  // If the host of one replica fails, the other sends. If both fail, everything comes from storage,
  // into each host.
  void ofTwoReplicasBothMustFail() {
    const auto w = EqualTensors(1, {120});
    const Layout from = On("dp=2 on n0g0,n1g0", w);
    const Layout to = On("dp=3 on n1g0,n2g0,n2g1", w);
    const auto one = MakePlan(from, to, {}, {.lost = {{0, 0}}});
    QCOMPARE(one->bytes.network, 240);
    QCOMPARE(one->bytes.storage, 0);
    QVERIFY(one->reads.empty());
    QCOMPARE(one->peak_memory.at({0, 0}), 0);
    const std::vector<DeviceId> lost = {{0, 0}, {1, 0}};
    const auto both = MakePlan(from, to, {}, {.lost = lost});
    QCOMPARE(both->bytes.storage, 360);
    QCOMPARE(both->bytes.moved(), 360);
    QCOMPARE(both->reads.size(), std::size_t{3});
    QCOMPARE(both->busiest_port, std::string("n2 in"));
    QCOMPARE(both->busiest_port_bytes, 240);
    QCOMPARE(both->peak_memory.at({1, 0}), 120);
    const Certificate bound = Certify(from, to, {}, lost);
    QCOMPARE(bound.storage_volume, 360);
    QCOMPARE(bound.network_volume, 240);
    QCOMPARE(bound.direct.bytes, 240);
    QCOMPARE(bound.relayed.bytes, 120);
    QCOMPARE(bound.single_source_bytes, 0);
  }
};

TESSERA_TEST_APPLESS(LostTest)
#include "lost_test.moc"
