// SPDX-License-Identifier: Apache-2.0
// What users do with nodes.
#include "agents/registrar/node_acts.h"

#include <QTest>
#include <memory>
#include <string>

#include "tests/agents/part_office.h"
#include "tests/support/test_main.h"

using namespace tessera;
using namespace tessera::agents;

namespace {

/// A registrar with nodes n1 and n2, and what it has sent.
struct Office {
  Office() {
    for (const std::int32_t node : {1, 2}) {
      wire::Register message;
      message.set_node(node);
      message.set_incarnation(1);
      around.members().Register(std::to_string(node), message, around.common().timers.now());
    }
  }
  const wire::Reply& Kill(std::int32_t node) {
    const auto pending = std::make_shared<PendingReply>(
        "1", "", [this](const std::string&, const wire::Reply& out) { reply = out; });
    pending->Join("client", 1);
    wire::KillNodeRequest request;
    request.set_node(node);
    acts.OnKillNode(request, pending);
    return reply;
  }

  sim::MemoryStore disk;
  wire::Reply reply;
  int num_sent = 0;
  test::PartOffice around{disk, {}, [this](const std::string&, const wire::ToNode&) {
                            ++num_sent;
                            return OkStatus();
                          }};
  NodeActs acts{around.common(), [](const std::string&) {}};
};

}  // namespace

class NodeActsTest : public QObject {
  Q_OBJECT
 private slots:
  void aNodeIsKilled() {
    Office office;
    QVERIFY(office.Kill(1).has_done());
    QCOMPARE(office.num_sent, 1);
    QVERIFY(office.around.members().Find(1)->killed);
  }

  // Its agent reads no message. What it says of itself has the remedy.
  void aNodeThatTakesNoPartSaysWhy() {
    Office office;
    const std::string problem = "n2 cannot run, because its journal is damaged (?)";
    office.around.members().NoteProblem(2, problem, office.around.common().timers.now());
    QCOMPARE(office.Kill(2).error().message(), "node n2 cannot be killed: " + problem);
    QCOMPARE(office.num_sent, 0);
    QVERIFY(!office.around.members().Find(2)->killed);
  }

  // Panels then know that the connection was not lost by a failure.
  void aClusterThatIsStoppedSaysGoodbye() {
    Office office;
    const auto pending = std::make_shared<PendingReply>(
        "1", "lena: tesseractl, lena@lab3",
        [&office](const std::string&, const wire::Reply& out) { office.reply = out; });
    pending->Join("client", 1);
    office.acts.OnShutdown(pending);
    QVERIFY(office.reply.has_done());
    const auto& published = office.around.published();
    QVERIFY(!published.empty() && published.back().has_goodbye());
    QCOMPARE(published.back().goodbye().by(), std::string("lena: tesseractl, lena@lab3"));
    QVERIFY(published.back().goodbye().time() > 0);
  }
};

TESSERA_TEST_APPLESS(NodeActsTest)
#include "node_acts_test.moc"
