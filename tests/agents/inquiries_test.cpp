// SPDX-License-Identifier: Apache-2.0
// Whose request asks the program of a job.
#include "agents/registrar/inquiries.h"

#include <QTest>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "agents/sim/memory_store.h"
#include "agents/wire/convert.h"
#include "agents/wire/tessera/wire/control.pb.h"
#include "agents/wire/tessera/wire/node.pb.h"
#include "engine/model/gpt.h"
#include "engine/model/job_layout.h"
#include "tests/agents/part_office.h"
#include "tests/support/test_main.h"
#include "tests/support/verify.h"

using namespace tessera;
using namespace tessera::agents;

namespace {

Job RunningJob(const std::string& name, bool has_program) {
  engine::JobSettings settings;
  settings.model = *engine::FindModel("gpt-nano");
  ptc::DeviceMesh mesh = *ptc::DeviceMesh::Make(ptc::MeshShape{}, {ptc::DeviceId{0, 0}});
  ptc::Layout layout = *engine::MakeLayout(*engine::TensorsOf(settings, false), std::move(mesh));
  if (has_program) settings.program.emplace();
  Job job(name, std::move(settings), std::move(layout));
  job.state = engine::JobState::kRunning;
  return job;
}

}  // namespace

class InquiriesTest : public QObject {
  Q_OBJECT
 private slots:
  // It runs code on a node. A job of a built-in model has no program, so its answer is known.
  void onlyOperatorsAskPrograms() {
    sim::MemoryStore journal;
    test::PartOffice office(journal);
    JobTable jobs{office.common(), [](const std::string&) { return OkStatus(); }};
    VERIFY_OK(jobs.Add(RunningJob("own", true)));
    VERIFY_OK(jobs.Add(RunningJob("built-in", false)));
    int asked = 0;
    NodeQueryClient queries{office.common().timers, [&](std::int32_t, const wire::ToNode& message) {
                              asked += message.query().has_check_mesh() ? 1 : 0;
                              return OkStatus();
                            }};
    Inquiries inquiries(office.common(), jobs, queries, [] { return OkStatus(); });
    const auto not_asked_for = [&](Role role, const char* job) {
      std::string answer = "no reply yet";
      const auto reply = std::make_shared<PendingReply>(
          "id", "", [&](const std::string&, const wire::Reply& sent) {
            answer = sent.check_mesh().not_asked();
          });
      reply->Join("client", 1);
      wire::CheckMeshRequest request;
      request.set_job(job);
      Encode(ptc::MeshShape{}, request.mutable_mesh());
      inquiries.OnCheckMesh(role, request, reply);
      return answer;
    };
    QCOMPARE(not_asked_for(Role::kViewer, "built-in"), std::string());
    QCOMPARE(not_asked_for(Role::kViewer, "own"),
             std::string("only operators may ask it, and this key is a viewer's"));
    QCOMPARE(asked, 0);
    QCOMPARE(not_asked_for(Role::kOperator, "built-in"), std::string());
    QCOMPARE(not_asked_for(Role::kOperator, "own"), std::string("no reply yet"));
    QCOMPARE(asked, 1);
  }

  // A registrar that runs on with a deleted file, or with a table that was lost, looks healthy.
  void doctorLooksAtTheJobTable() {
    sim::MemoryStore journal;
    wire::NodeAnswer answer;
    answer.mutable_doctor();
    test::PartOffice office(journal, {}, [&](const std::string&, const wire::ToNode& message) {
      answer.set_ticket(message.query().ticket());
      return OkStatus();
    });
    JobTable jobs{office.common(), [](const std::string&) { return OkStatus(); }};
    NodeQueryClient queries{office.common().timers,
                            [&](std::int32_t node, const wire::ToNode& message) {
                              return office.common().Send(node, message);
                            }};
    Inquiries inquiries(office.common(), jobs, queries, [] { return OkStatus(); });
    wire::Register message;
    message.set_node(0);
    message.add_devices();
    Membership& members = office.members();
    members.Register("0", message, office.common().timers.now());
    const auto look = [&] {
      engine::Check table;
      const auto reply = std::make_shared<PendingReply>(
          "id", "", [&](const std::string&, const wire::Reply& sent) {
            const auto checks = *Decode(sent.doctor());
            for (const engine::Check& check : checks) {
              if (check.name == "job table") table = check;
            }
          });
      reply->Join("client", 1);
      inquiries.OnDoctor(reply);
      queries.OnAnswer(0, answer);
      return table;
    };
    using Verdict = engine::Check::Verdict;
    QVERIFY(look().verdict == Verdict::kOk && !look().value.empty());

    members.Find(0)->devices[0].set_job("nano");
    jobs.NoteHeld(*members.Find(0));
    const engine::Check unknown = look();
    QVERIFY(unknown.verdict == Verdict::kFailed);
    QCOMPARE(unknown.value, std::string("it does not explain what nodes hold of nano"));
    QVERIFY(unknown.remedy.find("`tesseractl registrar rebuild`") != std::string::npos);

    journal.place = DataLoss("registrar.db was deleted, and is lost when this agent ends");
    const engine::Check deleted = look();
    QVERIFY(deleted.verdict == Verdict::kFailed);
    QCOMPARE(deleted.value, journal.place.error().message);
    engine::RegisterStatus status;
    EmbeddedRegister(journal, "registrar.db").Look([&](auto found) { status = std::move(found); });
    QCOMPARE(status.problem, journal.place.error().message);
    QCOMPARE(status.members[0].problem, status.problem);
  }
};
TESSERA_TEST(InquiriesTest)
#include "inquiries_test.moc"
