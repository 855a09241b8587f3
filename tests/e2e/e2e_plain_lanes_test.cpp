// SPDX-License-Identifier: Apache-2.0
// A cluster whose bulk lanes are not encrypted: moves, views and measurements work with tickets,
// and the cluster says that its lanes are plain.
#include <QTest>
#include <nlohmann/json.hpp>

#include "agents/client/cluster_state.h"
#include "ptc/digest.h"
#include "tests/support/digests.h"
#include "tests/support/local_cluster.h"
#include "tests/support/test_main.h"

using namespace tessera;
using namespace tessera::test;

namespace {

const QString kJob = QStringLiteral("nano");

/// The digest of a view that this process reads over lanes.
Result<std::string> DigestOverLanes(const QString& profile) {
  TESSERA_TRY(const agents::Profile loaded, agents::LoadProfile(profile.toStdString()));
  TESSERA_TRY(const auto source, agents::OpenClusterState(loaded, {.map_memory = false}));
  TESSERA_TRY(const auto view, source->Pin(kJob.toStdString()));
  const ptc::Collection& collection = view->info().layout.collection();
  std::vector<std::uint64_t> digests;
  for (int t = 0; t < static_cast<int>(collection.tensors().size()); ++t) {
    const ptc::TensorSpec& spec = collection.tensors()[static_cast<std::size_t>(t)];
    const ptc::Box whole = *ptc::Box::Whole(spec.shape);
    std::vector<std::byte> bytes(
        static_cast<std::size_t>(whole.num_elements() * ptc::SizeBytes(spec.dtype)));
    TESSERA_RETURN_IF_ERROR(view->Read(t, whole, bytes));
    digests.push_back(ptc::DigestBox(spec.dtype, spec.shape, whole, bytes.data(), whole));
  }
  return ptc::Hex16(ptc::CollectionDigest(collection, digests));
}

}  // namespace

class E2ePlainLanesTest : public QObject {
  Q_OBJECT

 private slots:
  void initTestCase() {
    LocalCluster::Options options;
    options.devices = 2;
    options.memory = QStringLiteral("64M");
    options.plain_lanes = true;
    m_cluster = std::make_unique<LocalCluster>(options);
    QVERIFY2(m_cluster->up().code == 0, m_cluster->up().Text());
    QVERIFY2(m_cluster->up().output.contains(QStringLiteral("plain lanes")),
             m_cluster->up().Text());
    const Outcome start = m_cluster->StartJob(kJob, "dp=1,tp=2", "n0g0,n0g1");
    QVERIFY2(start.code == 0, start.Text());
    QVERIFY(m_cluster->WaitStep(kJob, 3));
  }
  void cleanupTestCase() { m_cluster.reset(); }

  void theClusterSaysIt() {
    QCOMPARE(m_cluster->Status()["plain_lanes"].get<bool>(), true);
    const Outcome status = m_cluster->Run({"status"});
    QVERIFY2(status.output.contains(QStringLiteral("bulk data is not encrypted")), status.Text());
    const Outcome doctor = m_cluster->Run({"doctor"});
    QVERIFY2(doctor.output.count(QStringLiteral("plain: bulk data of this node")) == 2,
             doctor.Text());
  }

  void stateMovesBetweenNodes() {
    const Json there = m_cluster->Apply(kJob, "dp=1,tp=2", "n1g0,n1g1");
    QVERIFY2(there["result"] == "committed", there.dump().c_str());
    QVERIFY(m_cluster->WaitStep(kJob, m_cluster->Step(kJob) + 2));
  }

  void aViewIsReadOverLanes() {
    QVERIFY(m_cluster->Run({"job", "pause", kJob}).code == 0);
    QVERIFY(LocalCluster::WaitFor([&] { return m_cluster->Job(kJob)["state"] == "paused"; }, 20));
    const auto digest = DigestOverLanes(m_cluster->home() + "/profiles/t.json");
    QVERIFY2(digest, digest ? "" : digest.error().ToString().c_str());
    const Json own = m_cluster->Ask({"digest", kJob});
    VERIFY_DIGESTS(own["digest"], *digest);
  }

  void linksAreMeasured() {
    const Json measured = m_cluster->Ask({"topology", "--measure"});
    int network = 0;
    for (const Json& link : measured["measured"]["links"]) network += link["from"] != link["to"];
    QCOMPARE(network, 2);
  }

 private:
  std::unique_ptr<LocalCluster> m_cluster;
};
TESSERA_TEST(E2ePlainLanesTest)
#include "e2e_plain_lanes_test.moc"
