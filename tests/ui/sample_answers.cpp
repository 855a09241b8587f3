// SPDX-License-Identifier: Apache-2.0
#include "tests/ui/sample_answers.h"

#include "ptc/base/overloaded.h"

namespace tessera::test {
namespace {

constexpr double kMeasured = 1'750'000'000;

ui::LinksAnswer links() {
  ui::LinksAnswer answer;
  answer.host_bytes_per_second = 11.4e9;
  answer.network_bytes_per_second = 98e6;
  answer.source = "measured 2025-06-15, n0,n1";
  answer.measured.measured_at = kMeasured;
  answer.measured.seconds = 3.4;
  answer.measured.links = {{0, 0, {11.2e9, 11.4e9, 11.6e9}, {}},
                           {0, 1, {96e6, 98e6, 99e6}, {2, 1 << 20}},
                           {1, 0, {95e6, 98e6, 99e6}, {2, 1 << 20}},
                           {1, 1, {10.9e9, 11.5e9, 11.7e9}, {}}};
  return answer;
}

ui::TuneAnswer tuned() {
  const auto row = [](std::int64_t dp, std::int64_t tp, double predicted, double measured) {
    ui::TuneRow one;
    one.mesh[ptc::Axis::kDp] = dp;
    one.mesh[ptc::Axis::kTp] = tp;
    one.devices = {{0, 0}, {0, 1}, {0, 2}, {0, 3}};
    one.predicted = predicted;
    one.measured = measured;
    return one;
  };
  ui::TuneAnswer answer;
  answer.rows = {row(4, 1, 0.31, 0.29), row(2, 2, 0.33, 0.35), row(1, 4, 0.4, 0)};
  answer.rows[0].options.zero = true;
  answer.rows[2].failure = "n0g3 would hold 540 of 512 MiB";
  answer.kept = answer.rows[0];
  return answer;
}

std::vector<engine::CheckpointEntry> checkpoints() {
  std::vector<engine::CheckpointEntry> list;
  for (const std::int64_t step : {1200, 1000, 800}) {
    engine::CheckpointEntry& one = list.emplace_back();
    one.path = "/srv/checkpoints/gpt-mini-step-" + std::to_string(step);
    one.job = "gpt-mini";
    one.step = step;
    one.bytes = 39'216'742;
    one.mesh = "dp=2,tp=2";
    one.digest = "8f3109c277aa41de";
    one.created = kMeasured + static_cast<double>(step);
  }
  list.back().problem = "rank-3.safetensors is missing";
  return list;
}

ui::LogAnswer log(const ui::LogRequest& request) {
  if (!request.job.empty())
    return {{"step 1282 loss 2.216", "step 1283 loss 2.215", "step 1284 loss 2.214"}, 3};
  return {{"keeper: 512 of 512 MiB of device memory are made", "info n0: joined with 4 GPUs",
           "info gpt-mini: started on n0g0–n0g3", "warning n1: silent for 3 s",
           "info n1: heard again", "error /srv/checkpoints: no space left on device"},
          0};
}

}  // namespace

std::optional<Result<ui::Answer>> SampleAnswer(const ui::Request& request) {
  using Made = std::optional<Result<ui::Answer>>;
  const Overloaded make{
      [](const ui::DigestRequest& r) -> Made {
        return ui::Answer(ui::DigestAnswer{r.job,
                                           "8f3109c277aa41de",
                                           1284,
                                           3,
                                           1,
                                           {{"h.0.attn.qkv.weight", "5b1e0f6c21d9a774"},
                                            {"h.0.mlp.fc1.weight", "00b7cc1925f0e3aa"},
                                            {"tok_emb.weight", "e1907d4412c8b65f"}}});
      },
      [](const ui::LinksRequest&) -> Made { return ui::Answer(links()); },
      [](const ui::ProbeRequest&) -> Made {
        engine::Calibration calibration;
        calibration.measured_at = kMeasured;
        calibration.cpu = "AMD EPYC 9354";
        calibration.cores = 64;
        return ui::Answer(calibration);
      },
      [](const ui::LogRequest& r) -> Made { return ui::Answer(log(r)); },
      [](const ui::TuneRequest&) -> Made { return ui::Answer(tuned()); },
      [](const ui::CheckpointsRequest&) -> Made { return ui::Answer(checkpoints()); },
      [](const ui::RegistrarRequest&) -> Made {
        ui::RegistrarAnswer answer;
        answer.endpoint = "tcp://10.0.0.11:40001";
        answer.store = "etcd";
        answer.generation = 2;
        answer.members = {{"https://10.0.0.1:2379", "3.5.9", true, 0.002, ""},
                          {"https://10.0.0.2:2379", "3.5.9", false, 0.003, ""},
                          {"https://10.0.0.3:2379", "", false, 0, "connection refused"}};
        return ui::Answer(answer);
      },
      [](const auto&) -> Made { return std::nullopt; }};
  return std::visit(make, request);
}

}  // namespace tessera::test
