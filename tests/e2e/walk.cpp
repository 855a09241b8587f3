// SPDX-License-Identifier: Apache-2.0
#include "tests/e2e/walk.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "tests/support/digests.h"
#include "tests/support/exact_job.h"

namespace tessera::test {
namespace {

QString TextOf(const WalkStop& stop) {
  return WalkMeshes()[stop.mesh].Text() + (stop.zero ? QStringLiteral(" with zero") : QString());
}

QString OnOff(bool on) { return on ? QStringLiteral("on") : QStringLiteral("off"); }

}  // namespace

const std::vector<WalkMesh>& WalkMeshes() {
  static const std::vector<WalkMesh> meshes = {{1, 1, 1}, {2, 1, 1}, {1, 2, 1}, {1, 1, 2},
                                               {4, 1, 1}, {2, 2, 1}, {2, 1, 2}, {1, 2, 2},
                                               {1, 1, 4}, {4, 2, 1}, {1, 4, 2}, {2, 2, 2}};
  return meshes;
}

WalkStops EveryPairOnce(bool zero) {
  const std::size_t n = WalkMeshes().size();
  std::vector<std::vector<std::size_t>> open(n);
  for (std::size_t from = 0; from < n; ++from)
    for (std::size_t to = n; to-- > 0;)
      if (to != from) open[from].push_back(to);
  std::vector<std::size_t> stack = {0};
  WalkStops circuit;
  while (!stack.empty()) {
    const std::size_t at = stack.back();
    if (open[at].empty()) {
      circuit.push_back({at, zero});
      stack.pop_back();
    } else {
      stack.push_back(open[at].back());
      open[at].pop_back();
    }
  }
  std::ranges::reverse(circuit);
  return circuit;
}

WalkStops TwiceAround() {
  const std::size_t n = WalkMeshes().size();
  WalkStops walk = {{0, false}};
  for (std::size_t i = 1; i <= 2 * n; ++i) {
    const std::size_t stride = i <= n ? 5 : 7;
    walk.push_back({(walk.back().mesh + stride) % n, i / 2 % 2 == 1});
  }
  return walk;
}

QStringList Walk(const LocalCluster& cluster, const WalkStops& walk, Walker walker) {
  const QString job = QStringLiteral("walker");
  const auto devices = [](const WalkStop& stop) {
    return FirstDevices(WalkMeshes()[stop.mesh].Ranks());
  };
  const auto zero = [](const WalkStop& stop) {
    return QStringList{QStringLiteral("--zero"), OnOff(stop.zero)};
  };
  const WalkStop& first = walk.front();
  const QString mesh = WalkMeshes()[first.mesh].Text();
  const Outcome start =
      walker == Walker::kExact
          ? StartExactJob(cluster, job, mesh, devices(first), zero(first))
          : cluster.StartJob(
                job, mesh, devices(first),
                zero(first) + QStringList{QStringLiteral("--set"), QStringLiteral("layers=4")});
  if (start.code != 0) return {QString::fromUtf8(start.Text())};
  QStringList complaints;
  for (std::size_t i = 1; i < walk.size(); ++i) {
    const WalkStop& to = walk[i];
    const QString name = TextOf(walk[i - 1]) + QStringLiteral(" to ") + TextOf(to);
    const Json result = cluster.Apply(job, WalkMeshes()[to.mesh].Text(), devices(to), zero(to));
    if (!result.is_object() || result["result"] != "committed") {
      complaints << name + QStringLiteral(": ") + QString::fromStdString(result.dump());
      break;  // the next pair would start from another mesh
    }
    qInfo("%s: %lld bytes moved, bound %lld, pause %.3f s", qPrintable(name),
          result["moved_bytes"].get<long long>(), result["volume_bound_bytes"].get<long long>(),
          result["pause_seconds"].get<double>());
    if (result["moved_bytes"] != result["volume_bound_bytes"])
      complaints << name + QStringLiteral(": bytes moved are not the volume bound");
    std::int64_t counted = 0;  // by the receiving nodes
    const Json latest = cluster.Ask({QStringLiteral("history"), QStringLiteral("--limit"),
                                     QStringLiteral("1")})["transactions"];
    for (const Json& record : latest)
      for (const Json& flow : record["flows"]) counted += flow["bytes"].get<std::int64_t>();
    if (result["moved_bytes"] != counted)
      complaints << name + QStringLiteral(": the flows are not the bytes moved");
    const std::string wrong = WrongDigests(result["digest_before"], result["digest_after"]);
    if (!wrong.empty()) complaints << name + QStringLiteral(": ") + QString::fromStdString(wrong);
    if (!cluster.GoesOn(job, 1)) complaints << name + QStringLiteral(": the job does not go on");
    const Json now = cluster.Job(job);
    if (now["zero"] != to.zero)
      complaints << name + QStringLiteral(": the job runs with zero ") + OnOff(!to.zero);
  }
  if (walker == Walker::kExact) {
    const QString wrong = WrongStepsOfExactJob(cluster, job);
    if (!wrong.isEmpty()) complaints << wrong;
  }
  return complaints;
}

}  // namespace tessera::test
