// SPDX-License-Identifier: Apache-2.0
#include "tests/e2e/walk.h"

#include <algorithm>

namespace tessera::test {

const std::vector<WalkMesh>& WalkMeshes() {
  static const std::vector<WalkMesh> meshes = {{1, 1}, {2, 1}, {1, 2}, {2, 2},
                                               {4, 1}, {1, 4}, {4, 2}, {2, 4}};
  return meshes;
}

std::vector<std::size_t> EveryPairOnce() {
  const std::size_t n = WalkMeshes().size();
  std::vector<std::vector<std::size_t>> open(n);
  for (std::size_t from = 0; from < n; ++from)
    for (std::size_t to = n; to-- > 0;)
      if (to != from) open[from].push_back(to);
  std::vector<std::size_t> stack = {0}, circuit;
  while (!stack.empty()) {
    const std::size_t at = stack.back();
    if (open[at].empty()) {
      circuit.push_back(at);
      stack.pop_back();
    } else {
      stack.push_back(open[at].back());
      open[at].pop_back();
    }
  }
  std::ranges::reverse(circuit);
  return circuit;
}

QStringList Walk(const LocalCluster& cluster, const std::vector<std::size_t>& walk) {
  const QString job = QStringLiteral("walker");
  const auto devices = [](const WalkMesh& mesh) { return FirstDevices(mesh.dp * mesh.tp); };
  const WalkMesh& first = WalkMeshes()[walk.front()];
  const Outcome start = cluster.StartJob(job, first.Text(), devices(first));
  if (start.code != 0) return {QString::fromUtf8(start.Text())};
  QStringList complaints;
  for (std::size_t i = 1; i < walk.size(); ++i) {
    const WalkMesh& from = WalkMeshes()[walk[i - 1]];
    const WalkMesh& to = WalkMeshes()[walk[i]];
    const QString name = from.Text() + QStringLiteral(" to ") + to.Text();
    const Json result = cluster.Apply(job, to.Text(), devices(to));
    if (!result.is_object() || result["result"] != "committed") {
      complaints << name + QStringLiteral(": ") + QString::fromStdString(result.dump());
      break;  // the next pair would start from another mesh
    }
    qInfo("%s: %lld bytes moved, bound %lld, pause %.3f s", qPrintable(name),
          result["bytes_moved"].get<long long>(), result["volume_bound"].get<long long>(),
          result["pause"].get<double>());
    if (result["bytes_moved"] != result["volume_bound"])
      complaints << name + QStringLiteral(": bytes moved are not the volume bound");
    if (result["digest_before"] != result["digest_after"] ||
        result["digest_before"].get<std::string>().size() != 16)
      complaints << name + QStringLiteral(": the digests differ");
    if (!cluster.GoesOn(job, 1)) complaints << name + QStringLiteral(": the job does not go on");
  }
  return complaints;
}

}  // namespace tessera::test
