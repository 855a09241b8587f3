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
};
TESSERA_TEST(InquiriesTest)
#include "inquiries_test.moc"
