// SPDX-License-Identifier: Apache-2.0
#include "ptc/plan/outline.h"

#include <sys/wait.h>
#include <unistd.h>

#include <QTest>
#include <algorithm>
#include <array>
#include <map>

#include "ptc/certificate/certificate.h"
#include "ptc/plan/plan.h"
#include "tests/ptc/changes.h"
#include "tests/ptc/random_job.h"
#include "tests/support/random.h"
#include "tests/support/test_main.h"

using namespace tessera::ptc;
using tessera::test::AnyChange;
using tessera::test::AnyJob;

namespace {

/// The hashes of the outlines of some jobs, in order.
std::vector<std::uint64_t> HashesOf(std::uint64_t seed, int jobs) {
  std::mt19937_64 rng(seed);
  std::vector<std::uint64_t> hashes;
  for (int i = 0; i < jobs; ++i) {
    const auto job = AnyJob(rng);
    hashes.push_back(MakeOutline(job.from, job.to, {})->hash);
  }
  return hashes;
}

/// The same, computed by another process.
std::vector<std::uint64_t> HashesOfAChild(std::uint64_t seed, int jobs) {
  std::array<int, 2> ends{};
  if (pipe(ends.data()) != 0) return {};
  const pid_t child = fork();
  if (child == 0) {
    const auto hashes = HashesOf(seed, jobs);
    const std::size_t size = hashes.size() * sizeof(hashes[0]);
    const bool good = write(ends[1], hashes.data(), size) == static_cast<ssize_t>(size);
    _exit(good ? 0 : 1);
  }
  close(ends[1]);
  std::vector<std::uint64_t> hashes(static_cast<std::size_t>(jobs));
  const std::size_t size = hashes.size() * sizeof(hashes[0]);
  std::size_t done = 0;
  while (done < size) {
    const ssize_t got = read(ends[0], reinterpret_cast<char*>(hashes.data()) + done, size - done);
    if (got <= 0) break;
    done += static_cast<std::size_t>(got);
  }
  close(ends[0]);
  int status = 0;
  waitpid(child, &status, 0);
  if (done != size || status != 0) return {};
  return hashes;
}

std::vector<DeviceId> Devices(int hosts) {
  std::vector<DeviceId> devices;
  for (std::int32_t node = 0; node < hosts; ++node) {
    for (std::int32_t index = 0; index < 8; ++index) devices.push_back({node, index});
  }
  return devices;
}

/// A tall model of equal layers: a matrix cut over tp with its flat moments, and a norm.
CollectionPtr Layers(std::int64_t layers, bool zero) {
  std::vector<TensorSpec> tensors;
  for (std::int64_t l = 0; l < layers; ++l) {
    TensorSpec spec;
    spec.name = "h." + std::to_string(l) + ".w";
    spec.shape = {4096, 1024};
    spec.dtype = DType::kBF16;
    spec.place = StagePlace::kLayer;
    spec.layer = l;
    spec.rule.dims = {{{Axis::kTp}}};
    tensors.push_back(spec);
    spec.name += ".m";
    spec.dtype = DType::kF32;
    spec.role = TensorRole::kExpAvg;
    if (zero) spec.rule.flat = {Axis::kDp};
    tensors.push_back(spec);
  }
  return *Collection::Make(std::move(tensors), layers);
}

DeviceMesh Mesh(const char* shape) {
  const MeshShape mesh = *ParseMeshShape(shape);
  return *DeviceMesh::Make(mesh, Devices(static_cast<int>(mesh.num_ranks() / 8)));
}

CollectionPtr Scalars(DType dtype, std::vector<Axis> axes) {
  TensorSpec spec;
  spec.name = "w";
  spec.dtype = dtype;
  spec.shape = {8};
  spec.rule.dims = {{std::move(axes)}};
  return *Collection::Make({spec}, 0);
}

}  // namespace

class OutlineTest : public QObject {
  Q_OBJECT
 private slots:
  // What only figures need changes neither the plan nor its hash.
  void thePlanDoesNotDependOnFigures() {
    std::mt19937_64 rng(tessera::test::Seed() + 9);
    std::size_t figures = 0;
    for (int i = 0; i < 300; ++i) {
      const auto job = AnyJob(rng);
      PlanOptions options{.relaying = i % 2 ? Relaying::kAlways : Relaying::kNever};
      if (i % 3 == 0) options.lost = {job.from.mesh().devices().front()};
      const auto with = MakeOutline(job.from, job.to, {}, options);
      options.with_figures = false;
      const auto without = MakeOutline(job.from, job.to, {}, options);
      QVERIFY(with && without);
      QCOMPARE(without->hash, with->hash);
      QVERIFY(without->flows == with->flows && without->relays == with->relays);
      QVERIFY(MovesOf(*without, job.from, job.to, without->devices).moves ==
              MovesOf(*with, job.from, job.to, with->devices).moves);
      QVERIFY(without->peak_memory.empty() && without->repacked.empty());
      QCOMPARE(without->bytes.kept + without->bytes.device + without->single_source_pieces,
               std::int64_t{0});
      QVERIFY(MakePlan(job.from, job.to, {}, options)->peak_memory.empty());
      figures += with->peak_memory.size();
    }
    QVERIFY(figures > 0);
  }

  // The moves that one device derives equal those in the plan of all devices.
  void movesOfADeviceAreThoseOfThePlan() {
    std::mt19937_64 rng(tessera::test::Seed());
    std::size_t moves = 0;
    std::ptrdiff_t relayed = 0;
    for (int i = 0; i < 1500; ++i) {
      const auto job = AnyJob(rng);
      const PlanOptions options{.relaying = i % 2 ? Relaying::kAlways : Relaying::kNever};
      const auto outline = MakeOutline(job.from, job.to, {}, options);
      const auto plan = MakePlan(job.from, job.to, {}, options);
      QVERIFY(outline && plan);
      QCOMPARE(outline->hash, plan->hash);
      std::map<DeviceId, std::vector<Move>> by_device;
      for (const Move& move : plan->moves) {
        by_device[std::visit([](const auto& m) { return m.device; }, move)].push_back(move);
      }
      for (DeviceId device : outline->devices) {
        const auto own = MovesOf(*outline, job.from, job.to, std::vector{device}).moves;
        QVERIFY(own == by_device[device]);
        moves += own.size();
        relayed += std::ranges::count_if(own, [](const Move& move) {
          const auto* copy = std::get_if<RemoteCopy>(&move);
          return copy != nullptr && copy->forwarded;
        });
      }
      QVERIFY(MovesOf(*outline, job.from, job.to, std::vector{DeviceId{99, 0}}).moves.empty());
    }
    QVERIFY(moves > 10000);
    QVERIFY(relayed > 500);
  }

  // The sums by device and by pairs of devices are those of the moves.
  void sumsAreThoseOfTheMoves() {
    std::mt19937_64 rng(tessera::test::Seed() + 5);
    for (int i = 0; i < 600; ++i) {
      const auto job = AnyJob(rng);
      const PlanOptions options{.relaying = i % 2 ? Relaying::kAlways : Relaying::kNever};
      const auto outline = MakeOutline(job.from, job.to, {}, options);
      const auto plan = MakePlan(job.from, job.to, {}, options);
      const auto bytes_of = [&](int tensor, const Box& cell) {
        const auto& spec = job.from.collection().tensors()[static_cast<std::size_t>(tensor)];
        return cell.num_elements() * SizeBytes(spec.dtype);
      };
      std::map<std::pair<DeviceId, DeviceId>, std::int64_t> flows;
      std::map<DeviceId, std::int64_t> repacked;
      for (const Move& move : plan->moves) {
        if (const auto* copy = std::get_if<RemoteCopy>(&move)) {
          flows[{copy->source, copy->device}] += bytes_of(copy->tensor, copy->cell);
        } else if (const auto* local = std::get_if<LocalCopy>(&move)) {
          repacked[local->device] += bytes_of(local->tensor, local->cell);
        }
      }
      std::map<std::pair<DeviceId, DeviceId>, std::int64_t> listed;
      for (const DeviceFlow& flow : DeviceFlows(*outline)) {
        QVERIFY((listed.try_emplace({flow.source, flow.device}, flow.bytes).second));
      }
      QVERIFY(listed == flows);
      for (std::size_t d = 0; d < outline->devices.size(); ++d) {
        QCOMPARE(outline->repacked[d], repacked[outline->devices[d]]);
      }
    }
  }

  void outlinesAreEqualInAnotherProcess() {
    const std::uint64_t seed = tessera::test::Seed() + 1;
    const auto here = HashesOf(seed, 400);
    QCOMPARE(HashesOfAChild(seed, 400), here);
    QVERIFY(std::count(here.begin(), here.end(), here.front()) < 10);
  }

  // Flows add up to the moved bytes, and are listed by device.
  void flowsAreTheMovedBytes() {
    std::mt19937_64 rng(tessera::test::Seed() + 2);
    for (int i = 0; i < 1500; ++i) {
      const auto job = AnyJob(rng);
      const auto outline = MakeOutline(job.from, job.to, {});
      std::int64_t bytes = 0;
      for (std::size_t d = 0; d < outline->devices.size(); ++d) {
        for (std::size_t f = outline->first_flow[d]; f < outline->first_flow[d + 1]; ++f) {
          const ClassFlow& flow = outline->flows[f];
          QCOMPARE(flow.device, static_cast<int>(d));
          QVERIFY(flow.source != flow.device && flow.bytes > 0);
          QCOMPARE(flow.bytes % flow.element_bytes, 0);
          bytes += flow.bytes;
        }
      }
      QCOMPARE(outline->first_flow.back(), outline->flows.size());
      QCOMPARE(bytes, outline->bytes.moved());
    }
  }

  // Compared with the certificate, which shares no code with the planner: only necessary bytes
  // move, and the last port of direct sends finishes as early as possible; with rack ports, within
  // a hundredth.
  void plansReachTheirBounds() {
    std::mt19937_64 rng(tessera::test::Seed() + 3);
    int moving = 0;
    for (int i = 0; i < 200; ++i) {
      const auto change = AnyChange(rng, 6);
      const auto outline =
          MakeOutline(change.from, change.to, change.topology, {.lost = change.lost});
      QVERIFY(outline);
      const Certificate bound =
          Certify(change.from, change.to, change.topology, change.lost, outline->port_prices);
      QCOMPARE(outline->bytes.moved(), bound.volume);
      QCOMPARE(outline->bytes.storage, bound.storage_volume);
      QCOMPARE(outline->single_source_bytes, bound.single_source_bytes);
      const double near = change.topology.rack_bytes_per_second ? 1.01 : 1.0001;
      QVERIFY2(outline->transfer_seconds <= near * bound.direct.seconds + 1e-9,
               qPrintable(QString("%1: %2 s, bound %3 s")
                              .arg(QString::fromStdString(change.text))
                              .arg(outline->transfer_seconds)
                              .arg(bound.direct.seconds)));
      moving += bound.volume > 0 ? 1 : 0;
    }
    QVERIFY(moving > 40);
  }

  // The certificate does not trust the prices: no plan is faster than a bound from any prices.
  void anyPricesBoundPlans() {
    std::mt19937_64 rng(tessera::test::Seed() + 6);
    int judged = 0;
    for (int i = 0; i < 300; ++i) {
      const auto change = AnyChange(rng, 6);
      if (!change.topology.rack_bytes_per_second) continue;
      const auto outline =
          MakeOutline(change.from, change.to, change.topology, {.lost = change.lost});
      QVERIFY(outline);
      PortPrices prices;
      for (std::int32_t name = 0; name < 8; ++name) {
        for (auto* of : {&prices.out_of_host, &prices.out_of_rack, &prices.into_rack}) {
          (*of)[name] = rng() % 3 == 0 ? 0 : static_cast<std::int64_t>(rng() % 1000);
        }
      }
      prices.into_rack[1] =
          rng() % 4 == 0 ? std::int64_t{1} << 62 : -5;  // no planner returns these
      const auto certify = [&](const PortPrices& at) {
        return Certify(change.from, change.to, change.topology, change.lost, at).direct.seconds;
      };
      const double bound = certify(prices);
      QVERIFY(bound >= certify({}));
      QVERIFY2(outline->transfer_seconds >= bound * (1 - 1e-9), change.text.c_str());
      ++judged;
    }
    QVERIFY(judged > 50);
  }

  void conversionsAreNamed() {
    const Layout from = *Layout::Make(*ParseDeviceMesh("tp=1 on n0g0"), Scalars(DType::kF32, {}));
    const Layout to =
        *Layout::Make(*ParseDeviceMesh("tp=2 on n0g0,n0g1"), Scalars(DType::kBF16, {Axis::kTp}));
    const auto refused = MakeOutline(from, to, {});
    QVERIFY(!refused);
    QCOMPARE(refused.error().message, std::string("tensor 'w' is param f32 [8] in the old layout "
                                                  "and param bf16 [8] in the new one"));
    const auto outline = MakeOutline(from, to, {}, {.convert_dtypes = true});
    QVERIFY(outline);
    QCOMPARE(
        outline->conversions,
        (std::vector<Conversion>{{TensorRole::kParam, DType::kF32, DType::kBF16, 1, 32, "w"}}));
    QCOMPARE(outline->bytes.host, 16);    // as it was before
    QCOMPARE(outline->bytes.device, 16);  // the element size differs, so nothing stays in place
    QCOMPARE(outline->bytes.kept, 0);
    QCOMPARE(outline->peak_memory, (std::vector<std::int64_t>{32 + 8, 8}));
    const Layout integers =
        *Layout::Make(*ParseDeviceMesh("tp=2 on n0g0,n0g1"), Scalars(DType::kI32, {Axis::kTp}));
    QVERIFY(!MakeOutline(from, integers, {}, {.convert_dtypes = true}));
  }

  // A class with several needers and holders is cut so that all holders send the same.
  void aClassIsDividedAmongItsHolders() {
    const auto collection = Layers(1, false);
    const Layout from = *Layout::Make(*ParseDeviceMesh("dp=3 on n0g0,n1g0,n2g0"), collection);
    const Layout to = *Layout::Make(*ParseDeviceMesh("dp=2 on n3g0,n4g0"), collection);
    const auto outline = MakeOutline(from, to, {});
    std::map<int, std::int64_t> sent;
    for (const ClassFlow& flow : outline->flows) sent[flow.source] += flow.bytes;
    const std::int64_t all = 2 * collection->total_bytes();
    QCOMPARE(sent.size(), std::size_t{3});
    // Bytes that come in take longer than an equal share of those that go out.
    for (const auto& [source, bytes] : sent) QVERIFY(bytes <= all / 2);
    QCOMPARE(outline->busiest_port.bytes, all / 2);
  }

  // If racks limit, a holder in the same rack is preferred.
  void aRackIsLeftOnlyForWhatItLacks() {
    const auto collection = Layers(1, false);
    const Layout from = *Layout::Make(*ParseDeviceMesh("dp=2 on n0g0,n2g0"), collection);
    const Layout to = *Layout::Make(*ParseDeviceMesh("dp=4 on n0g0,n1g0,n2g0,n3g0"), collection);
    Topology topology;
    topology.rack_of_host = {{0, 0}, {1, 0}, {2, 1}, {3, 1}};
    topology.rack_bytes_per_second = 1e6;
    const auto outline = MakeOutline(from, to, topology);
    for (const ClassFlow& flow : outline->flows) QCOMPARE(flow.source, flow.device - 1);
    const Layout far = *Layout::Make(*ParseDeviceMesh("dp=2 on n0g0,n1g0"), collection);
    const auto crossing = MakeOutline(far, to, topology);
    QCOMPARE(QString::fromStdString(crossing->busiest_port.name), QString("rack 0 out"));
    QCOMPARE(crossing->busiest_port.bytes, 2 * collection->total_bytes());
    QCOMPARE(crossing->transfer_seconds, Certify(far, to, topology).direct.seconds);
  }

  void bytesBeyondCountingAreRefused() {
    TensorSpec spec;
    spec.name = "w";
    spec.shape = {std::int64_t{1} << 59};
    const auto collection = *Collection::Make({spec}, 0);
    const Layout layout = *Layout::Make(*ParseDeviceMesh("dp=2 on 1x2"), collection);
    const auto outline = MakeOutline(layout, layout, {});
    QVERIFY(!outline);
    QCOMPARE(outline.error().message,
             std::string("tensors of 2305843009213693952 bytes on 2 devices are more bytes than "
                         "can be counted"));
  }

  // With flat moments no two of 640 hosts are alike, so groups go by the classes of several hosts.
  void manyGroupsArePlacedAtTheBound() {
    const auto collection = Layers(8, true);
    const Layout from = *Layout::Make(Mesh("tp=8,pp=4,dp=160"), collection);
    std::vector<DeviceId> devices = Devices(640);
    std::mt19937_64 rng(tessera::test::Seed() + 5);
    std::shuffle(devices.begin(), devices.end(), rng);
    const auto placed =
        FindPlacement(from, *ParseMeshShape("tp=16,pp=2,dp=160"), collection, devices, {});
    QVERIFY(placed);
    QVERIFY(placed->in_place_bytes > 0);
    QCOMPARE(placed->in_place_bytes, placed->bound_bytes);
  }

  // Eight of many replicas leave. A good placement moves little more than flat moments.
  void thousandsOfDevices() {
    for (const bool zero : {false, true}) {
      const auto collection = Layers(16, zero);
      const Layout from = *Layout::Make(Mesh("tp=8,pp=4,dp=64"), collection);
      std::vector<DeviceId> left = Devices(256);
      left.resize(2048 - 8 * 4 * 4);
      std::mt19937_64 rng(tessera::test::Seed() + 4);
      std::shuffle(left.begin(), left.end(), rng);
      const MeshShape shape = *ParseMeshShape("tp=8,pp=4,dp=56");
      const auto placed = FindPlacement(from, shape, collection, left, {});
      QVERIFY(placed);
      const Layout to = *Layout::Make(placed->mesh, collection);
      const auto outline = MakeOutline(from, to, {});
      QVERIFY(outline);
      const Certificate bound = Certify(from, to, {});
      QCOMPARE(outline->bytes.moved(), bound.volume);
      QVERIFY(outline->transfer_seconds <= 1.0001 * bound.direct.seconds);
      std::int64_t needed = 0;
      for (int rank = 0; rank < to.mesh().num_ranks(); ++rank) needed += to.BytesOf(rank);
      QCOMPARE(placed->in_place_bytes, outline->bytes.kept + outline->bytes.device);
      QCOMPARE(placed->in_place_bytes + bound.volume, needed);
      QVERIFY(placed->in_place_bytes <= placed->bound_bytes);
      // Whole tp groups stay on one host.
      for (int rank = 0; rank < to.mesh().num_ranks(); ++rank) {
        const auto& devices = to.mesh().devices();
        QCOMPARE(devices[static_cast<std::size_t>(rank)].node,
                 devices[static_cast<std::size_t>(rank / 8 * 8)].node);
      }
    }
  }
};

TESSERA_TEST_APPLESS(OutlineTest)
#include "outline_test.moc"
