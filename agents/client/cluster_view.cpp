// SPDX-License-Identifier: Apache-2.0
#include "agents/client/cluster_view.h"

#include <utility>

#include "agents/wire/tessera/wire/view.pb.h"
#include "engine/model/gpt.h"

namespace tessera::agents {

Result<engine::vfs::JobInfo> DecodeJobState(const wire::JobStateInfo& info) {
  TESSERA_TRY(SharedState state, DecodeSharedState(info));
  // What a job reads decides nothing here but whether there is a folder for it.
  const auto settings = engine::ParseJobSettings(info.settings());
  return engine::vfs::JobInfo{std::move(state.job),
                              state.epoch,
                              state.timeline,
                              state.step,
                              std::move(state.layout),
                              info.settings(),
                              settings && !settings->program};
}

ClusterView::ClusterView(engine::vfs::JobInfo info, std::uint64_t id, ShareReader reader,
                         std::shared_ptr<ViewFate> fate, std::function<void()> released)
    : info_(std::move(info)),
      id_(id),
      reader_(std::move(reader)),
      fate_(std::move(fate)),
      released_(std::move(released)) {}

ClusterView::~ClusterView() {
  if (released_) released_();
}

Result<std::shared_ptr<ClusterView>> ClusterView::Make(const wire::ViewReply& reply,
                                                       const std::string& machine,
                                                       std::shared_ptr<LaneReaders> readers,
                                                       std::function<void()> released) {
  TESSERA_TRY(engine::vfs::JobInfo info, DecodeJobState(reply.job()));
  auto fate = std::make_shared<ViewFate>();
  ShareReader::Options options;
  options.machine = machine;
  options.explain = [fate](Error error) {
    const auto lost = fate->lost();
    return lost && error.code != ErrorCode::kCancelled ? *lost : error;
  };
  auto reader =
      ShareReader::Make(reply, {info.name, info.epoch, info.timeline, info.step, info.layout},
                        std::move(readers), std::move(options));
  if (!reader) {
    if (released) released();
    return reader.error();
  }
  return std::shared_ptr<ClusterView>(new ClusterView(
      std::move(info), reply.view(), std::move(*reader), std::move(fate), std::move(released)));
}

Status ClusterView::Read(int tensor, const ptc::Box& box, std::span<std::byte> out) const {
  return reader_.Read(tensor, box, out);
}

}  // namespace tessera::agents
