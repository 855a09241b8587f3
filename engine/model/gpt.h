// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// The built-in models and the settings of a job that trains one. The registrar, the trainer and
/// the command line use it. It does not need libtorch.

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

/// The dtype of parameters. kBf16 keeps an fp32 master of each parameter (Micikevicius et al., ICLR
/// 2018, section 3.1). Gradients, moments and activations are f32 in both.
enum class Precision : std::uint8_t { kFp32, kBf16 };
std::string_view ToString(Precision precision);  // "fp32", "bf16"
Result<Precision> ParsePrecision(std::string_view name);

/// A job that runs a program of the user on the rank library instead of the built-in trainer.
struct OwnProgram {
  std::string command;     // run by sh -c, once per rank
  ptc::NamedText tensors;  // read by ptc::ApplyRules, like `rules`
  ptc::NamedText rules;
  std::string title = {};         // that of the tensors file: "LlamaForCausalLM, torch 2.15.0"
  bool finishes_updates = false;  // makes an update that an earlier rank has left out
  /// Also pauses before one, and makes it in another layout, to which state and gradients have
  /// moved.
  bool pauses_before_updates = false;
  friend bool operator==(const OwnProgram&, const OwnProgram&) = default;
};

/// Everything that decides what a job computes. The mesh is not part of it.
struct JobSettings {
  GptConfig model;
  std::int64_t global_batch = 16;
  std::int64_t seed = 1;
  std::int64_t max_steps = 0;        // 0: no end. The schedule does not use it.
  std::int64_t cosine_steps = 2000;  // length of the schedule
  std::int64_t warmup_steps = 20;
  double learning_rate = 1e-3, min_learning_rate = 1e-4, weight_decay = 0.1, beta1 = 0.9,
         beta2 = 0.95, epsilon = 1e-8, max_norm = 1.0;
  std::vector<std::string> data = {};  // absolute paths of text files and folders
  Precision precision = Precision::kFp32;
  double dropout = 0;  // probability, of embeddings, attention weights and residual branches
  AtChange at_change = AtChange::kKeep;
  /// How long a rank waits for another in one collective, in seconds. 0: 20 median steps, at least
  /// 30 s.
  std::int64_t collective_timeout = 0;
  std::int64_t device_batch = 0;           // set by NoteDeviceBatch; 0: not set
  std::optional<OwnProgram> program = {};  // if set, `model` is not used
  friend bool operator==(const JobSettings&, const JobSettings&) = default;
};

/// Names of the built-in models, smallest first.
std::vector<std::string> ModelNames();
/// \error kNotFound naming the model and the known ones
Result<GptConfig> FindModel(std::string_view name);
/// Returns the tensors of the job with their rules. For a program of the user, its two files define
/// them. For a built-in model they are the parameters, with bf16 their fp32 masters, both Adam
/// moments, and the scalars that a step reads (job.step, job.cursor).
///
/// tp cuts qkv in three segments, gate|up in two, fc1 by rows, fc2 and proj by columns, embedding
/// and head by rows of the vocabulary (the last ranks may hold fewer). All other tensors are
/// replicated. With `zero`, masters and moments are cut flat over dp.
/// \error kInvalidArgument for the model or the files
Result<ptc::CollectionPtr> MakeCollection(const JobSettings& settings, bool zero);
/// Checks that the job can run on `mesh` with `options`. The global batch need not be divisible by
/// dp: shares then differ by one sample. A share need not be divisible by the micro-batch: its last
/// micro-batch is smaller. For a program of the user, only its layout decides.
/// \error kInvalidArgument naming a size, its value and the degree that does not divide it, such as
///     `8 heads of gpt-mini are not divisible by tp = 3`; also for cp or ep above 1, more stages
///     than layers, more data-parallel ranks than samples in the batch, and a micro-batch above the
///     largest share of the batch (ShareOfBatch in engine/data/cursor.h)
Status CheckMesh(const JobSettings& settings, const ptc::MeshShape& mesh,
                 const StepOptions& options);
/// Returns the samples of a micro-batch. Only the last one of a share may have fewer. If `options`
/// do not set it, the largest share is divided into the fewest equal parts of at most 8 samples;
/// with pipeline stages there are at least two micro-batches per stage, if the share has enough
/// samples.
/// \pre CheckMesh(settings, mesh, options)
std::int64_t MicroBatch(const JobSettings& settings, const ptc::MeshShape& mesh,
                        const StepOptions& options);
/// Returns the number of micro-batches of a share.
/// \pre micro_batch >= 1
constexpr std::int64_t NumMicroBatches(std::int64_t samples, std::int64_t micro_batch) {
  return (samples + micro_batch - 1) / micro_batch;
}
/// Sets one setting of the job or of its model by its name in the JSON form: ("dropout", "0.1").
/// \error kInvalidArgument naming setting, value and limits, or listing the settings if there is
///     none of that name; `settings` is then unchanged
Status ApplySetting(JobSettings& settings, std::string_view name, std::string_view value);
/// A setting that ApplySetting knows. A number has limits, every other setting has choices.
struct JobSetting {
  std::string name;   // "dropout"
  std::string value;  // the present one: "0"
  bool of_model = false;
  bool is_integer = false;
  double least = 0, most = 0;
  std::vector<std::string> choices = {};
};
std::vector<JobSetting> SettingsOf(const JobSettings& settings);
/// Returns the names of these settings, each with its present value: "dropout=0".
std::vector<std::string> SettingNames(const JobSettings& settings);
/// Returns one line of JSON. Bytes that are not UTF-8 become U+FFFD.
std::string ToJson(const JobSettings& settings);
/// \error kInvalidArgument for an unknown key, a missing one, and a value outside its limits
Result<JobSettings> ParseJobSettings(std::string_view json);

}  // namespace tessera::engine
