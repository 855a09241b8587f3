// SPDX-License-Identifier: Apache-2.0
#include "agents/node/mesh_checks.h"

#include <fmt/format.h>

#include <utility>

#include "agents/wire/convert.h"
#include "agents/wire/tessera/wire/node.pb.h"
#include "agents/wire/utf8.h"

namespace tessera::agents {

void MeshChecks::OnQuery(const wire::NodeQuery& query) {
  if (const Status sent = Send(query); !sent) Answer(query.ticket(), sent);
}

Status MeshChecks::Send(const wire::NodeQuery& query) {
  const std::string& name = query.check_mesh().job();
  TESSERA_TRY(const ptc::MeshShape mesh, Decode(query.check_mesh().mesh()));
  const HeldJobs::Job* const job = jobs_.Find(name);
  if (!job) return Unavailable(fmt::format("job '{}' is not here any more", name));
  const RankId rank{name, job->row.layout.mesh().devices().front()};
  const std::uint64_t check = ++last_check_;
  TESSERA_RETURN_IF_ERROR(links_.ranks->SendCheck(rank, check, mesh));
  const auto earlier = waiting_.find(rank);
  if (earlier != waiting_.end()) {
    Answer(earlier->second.ticket, Unavailable("another mesh was asked about meanwhile"));
  }
  waiting_[rank] = {check, query.ticket()};
  return OkStatus();
}

void MeshChecks::OnChecked(const RankId& rank, std::uint64_t check, const Status& status) {
  const auto found = waiting_.find(rank);
  if (found == waiting_.end() || found->second.check != check) return;
  const std::uint64_t ticket = found->second.ticket;
  waiting_.erase(found);
  Answer(ticket, status);
}

void MeshChecks::OnGone(const RankId& rank) {
  const auto found = waiting_.find(rank);
  if (found == waiting_.end()) return;
  OnChecked(rank, found->second.check,
            Unavailable(fmt::format("the rank on {} has ended", ToString(rank.device))));
}

void MeshChecks::Answer(std::uint64_t ticket, const Status& status) const {
  wire::FromNode out;
  out.mutable_answer()->set_ticket(ticket);
  wire::CheckMeshReply& reply = *out.mutable_answer()->mutable_check_mesh();
  if (!status && status.error().code == ErrorCode::kFailedPrecondition) {
    reply.set_refused(Utf8(status.error().message));
  } else if (!status && status.error().code != ErrorCode::kUnimplemented) {
    reply.set_not_asked(Utf8(status.error().message));
  }
  uplink_.Send(std::move(out));
}

}  // namespace tessera::agents
