// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// The built-in models and the settings of a job that trains one. Known to registrar, trainer and
/// command line; needs no libtorch.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/cluster/step_options.h"
#include "engine/model/at_change.h"
#include "ptc/base/result.h"
#include "ptc/rules/rules.h"
#include "ptc/tensor_spec.h"

namespace tessera::engine {

/// Which form of GELU an ungated MLP computes (Hendrycks and Gimpel 2016). GPT-2 and GPT-3 were
/// trained with the tanh form; BERT, and PyTorch's default, use the error function.
enum class Gelu : std::uint8_t {
  kTanh,  // 0.5 x (1 + tanh(sqrt(2/pi) (x + 0.044715 x^3)))
  kErf,   // 0.5 x (1 + erf(x / sqrt(2)))
};
std::string_view ToString(Gelu gelu);  // "tanh", "erf"
/// \error kInvalidArgument naming the forms
Result<Gelu> ParseGelu(std::string_view name);

struct GptConfig {
  std::string name;  // "gpt-mini"
  std::int64_t layers = 0, width = 0, heads = 0, ffn = 0, vocab = 256, sequence = 0;
  /// Key and value heads, each shared by heads / kv_heads query heads (grouped-query attention;
  /// Ainslie et al., EMNLP 2023). 0: as many as heads.
  std::int64_t kv_heads = 0;
  bool gated_mlp = false;   // silu(gate) * up instead of gelu (Shazeer 2020, SwiGLU)
  bool tied_head = true;    // the head is the token embedding
  Gelu gelu = Gelu::kTanh;  // not used by a gated MLP
  std::int64_t num_kv_heads() const { return kv_heads == 0 ? heads : kv_heads; }
  friend bool operator==(const GptConfig&, const GptConfig&) = default;
};

/// What parameters are stored as. kBf16 keeps an fp32 master of each (Micikevicius et al., ICLR
/// 2018, section 3.1); gradients, moments and activations are f32 in both.
enum class Precision : std::uint8_t { kFp32, kBf16 };
std::string_view ToString(Precision precision);  // "fp32", "bf16"
Result<Precision> ParsePrecision(std::string_view name);

/// A job that is not the built-in trainer: any program on the rank library.
struct OwnProgram {
  std::string command;     // run by sh -c, once a rank
  ptc::NamedText tensors;  // what ptc::ApplyRules reads
  ptc::NamedText rules;
  friend bool operator==(const OwnProgram&, const OwnProgram&) = default;
};

/// Everything that decides what a job computes; the mesh is not part of it.
struct JobSettings {
  GptConfig model;
  std::int64_t global_batch = 16;
  std::int64_t seed = 1;
  std::int64_t max_steps = 0;        // 0: no end. Never read by the schedule.
  std::int64_t cosine_steps = 2000;  // length of the schedule
  std::int64_t warmup_steps = 20;
  double learning_rate = 1e-3, min_learning_rate = 1e-4, weight_decay = 0.1, beta1 = 0.9,
         beta2 = 0.95, epsilon = 1e-8, max_norm = 1.0;
  std::vector<std::string> data = {};  // absolute paths of text files and folders
  Precision precision = Precision::kFp32;
  double dropout = 0;  // probability, of embeddings, attention weights and residual branches
  AtChange at_change = AtChange::kKeep;
  std::int64_t device_batch = 0;           // NoteDeviceBatch; 0: not started, or nothing to note
  std::optional<OwnProgram> program = {};  // then model and what only it reads mean nothing
  friend bool operator==(const JobSettings&, const JobSettings&) = default;
};

/// Names of the built-in models, smallest first.
std::vector<std::string> ModelNames();
/// \error kNotFound naming the model and those there are.
Result<GptConfig> FindModel(std::string_view name);
/// The job's tensors. Built-in: parameters, with bf16 their fp32 masters, both Adam moments, and
/// the scalars that a step reads (job.step, job.cursor), with their rules: qkv as three segments
/// and gate|up as two, cut by tp; fc1 by rows, fc2 and proj by columns, embedding and head by
/// vocabulary rows (the last ranks may hold fewer); all else replicated. With `zero` masters and
/// moments are cut flat over dp. An own program: what its two files say.
/// \error kInvalidArgument of the model or the files
Result<ptc::CollectionPtr> MakeCollection(const JobSettings& settings, bool zero);
/// Whether the job can run `mesh` with `options`. \error kInvalidArgument naming what does not
/// divide, its value and the degree: `8 heads of gpt-mini are not divisible by tp = 3`; also cp, ep
/// above 1, more stages than layers, more data-parallel ranks than the batch has samples, a
/// micro-batch larger than the largest share of the batch (engine/data/cursor.h, ShareOfBatch). A
/// batch need not divide by dp, nor a share by the micro-batch: shares differ by a sample, and the
/// last micro-batch of a share holds what is left. For an own program only what its layout needs.
Status CheckMesh(const JobSettings& settings, const ptc::MeshShape& mesh,
                 const StepOptions& options);
/// Samples of one micro-batch, of which only the last of a share may hold fewer: what `options`
/// say, or, where they leave it open, the largest share of the batch in as few parts of equal size
/// as hold at most 8 samples each and, with pipeline stages, leave each stage at least two
/// micro-batches for each stage (as far as the share has them).
/// \pre CheckMesh(settings, mesh, options)
std::int64_t MicroBatch(const JobSettings& settings, const ptc::MeshShape& mesh,
                        const StepOptions& options);
/// Micro-batches that a share of `samples` is worked through in. \pre micro_batch >= 1
constexpr std::int64_t NumMicroBatches(std::int64_t samples, std::int64_t micro_batch) {
  return (samples + micro_batch - 1) / micro_batch;
}
/// Sets one setting by its name in the JSON form, of the job or of its model: ("dropout", "0.1").
/// \error kInvalidArgument naming setting, value and limit; `there is no setting 'lr'; there are …`
Status ApplySetting(JobSettings& settings, std::string_view name, std::string_view value);
/// The names that ApplySetting knows, each with its present value: "dropout=0".
std::vector<std::string> SettingNames(const JobSettings& settings);
/// JSON, one line.
std::string ToJson(const JobSettings& settings);
Result<JobSettings> ParseJobSettings(std::string_view json);

}  // namespace tessera::engine
