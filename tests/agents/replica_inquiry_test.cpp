// SPDX-License-Identifier: Apache-2.0
#include "agents/registrar/replica_inquiry.h"

#include <QTest>
#include <map>
#include <string>

#include "agents/move/digest_wire.h"
#include "agents/wire/tessera/wire/node.pb.h"
#include "engine/model/gpt.h"
#include "tests/agents/part_office.h"
#include "tests/support/test_main.h"

using namespace tessera;
using namespace tessera::agents;

namespace {

ptc::Layout LayoutOn(const char* mesh) {
  const auto tensors = *engine::MakeCollection({.model = *engine::FindModel("gpt-nano")}, false);
  return *ptc::Layout::Make(*ptc::ParseDeviceMesh(mesh), tensors);
}

}  // namespace

class ReplicaInquiryTest : public QObject {
  Q_OBJECT

 private slots:
  // Three nodes hold replicas, and one cell of n2g0 differs: its hash shows the group, the answers
  // of the nodes show the cell.
  void aReplicaThatDiffersIsNamed() {
    const ptc::Layout layout = LayoutOn("dp=3 on n0g0,n1g0,n2g0");
    const ptc::DeviceCells cells(layout, layout, ptc::CellOwners::kNeeders);
    std::map<std::int32_t, DeviceDigests> held;
    for (const ptc::DeviceId device : layout.mesh().devices()) {
      held[device.node] = {device, {}};
      std::uint64_t value = 1;
      for (std::size_t i = 0; i < cells.Of(device).size(); ++i) {
        held[device.node].digests.push_back(value = ptc::Mix(value));
      }
    }
    const std::size_t wrong = held[2].digests.size() / 2;
    held[2].digests[wrong] ^= 1;
    std::vector<SideDigests> sides;
    for (const auto& [node, digests] : held) sides.push_back(Summarize(cells, {digests}));
    const auto differing = FindDifferences({&sides[0], &sides[1], &sides[2]});
    QCOMPARE(differing.size(), std::size_t{1});
    QVERIFY(differing[0].devices == layout.mesh().devices());
    QCOMPARE(DifferenceText(differing),
             std::string("replicas differ: n0g0, n1g0, n2g0 do not hold the same state"));

    sim::MemoryStore journal;
    std::map<std::string, wire::AskGroupCells> asked;
    test::PartOffice office(journal, {}, [&](const std::string& to, const wire::ToNode& m) {
      asked[to] = m.ask_group_cells();
      return OkStatus();
    });
    for (const std::int32_t node : {0, 1, 2}) {
      wire::Register message;
      message.set_node(node);
      office.members().Register("n" + std::to_string(node), message, {});
    }
    ReplicaInquiry inquiry(office.common());
    inquiry.Ask({7, layout, layout, {}, false}, differing);
    QCOMPARE(asked.size(), std::size_t{3});
    for (const auto& [node, digests] : held) {
      const wire::AskGroupCells& ask = asked["n" + std::to_string(node)];
      QCOMPARE(ask.transaction(), std::int64_t{7});
      QVERIFY(office.events().empty());
      wire::GroupCells answer;
      answer.set_transaction(ask.transaction());
      answer.set_before(ask.before());
      answer.set_group(ask.group());
      EncodeDigests({{digests.device, OfGroup(cells, digests, ask.group())}},
                    answer.mutable_devices());
      inquiry.OnCells(node, answer);
      inquiry.OnCells(node, answer);  // a repeated answer counts once
    }
    QCOMPARE(office.events().size(), std::size_t{1});
    const engine::Event event = office.events()[0];
    QCOMPARE(event.severity, engine::Severity::kError);
    const auto entry = cells.Of({0, 0})[wrong];
    const std::string expected =
        "replicas differ: tensor '" +
        layout.collection().tensors()[static_cast<std::size_t>(entry.tensor)].name + "' " +
        ToString(*entry.box) + ": n0g0 holds digest " + ptc::Hex16(held[0].digests[wrong]) +
        ", n2g0 holds " + ptc::Hex16(held[2].digests[wrong]);
    QCOMPARE(event.text, expected);
  }

  // Only the nodes that can be reached are waited for.
  void aNodeThatIsAwayIsNotWaitedFor() {
    const ptc::Layout layout = LayoutOn("dp=2 on n0g0,n1g0");
    sim::MemoryStore journal;
    int asked = 0;
    test::PartOffice office(journal, {}, [&](const std::string&, const wire::ToNode&) {
      ++asked;
      return OkStatus();
    });
    wire::Register message;
    office.members().Register("n0", message, {});
    ReplicaInquiry inquiry(office.common());
    inquiry.Ask({7, layout, layout, {}, false}, {{0, {{0, 0}, {1, 0}}}});
    QCOMPARE(asked, 1);
    wire::GroupCells answer;
    answer.set_transaction(7);
    inquiry.OnCells(0, answer);
    QVERIFY(office.events().empty());  // one holder alone differs from nobody
  }
};

TESSERA_TEST_APPLESS(ReplicaInquiryTest)
#include "replica_inquiry_test.moc"
