// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// The files of jobs that only hold state (hold_state.c) or also update it, for benchmarks.

#include <QFile>
#include <QString>
#include <nlohmann/json.hpp>

#include "tests/support/program.h"

namespace tessera::test {

inline constexpr int kHeldLayers = 8;
inline constexpr int kHeldColumns = 3456;

inline bool WriteJson(const QString& path, const Json& json) {
  QFile file(path);
  return file.open(QIODevice::WriteOnly) && file.write(json.dump().c_str()) > 0;
}

/// Matrices that tp cuts into rows and into columns, so that copies of both kinds appear.
/// \param rows of each of two matrices of a layer
inline bool WriteHeldJob(const QString& folder, int rows) {
  const Json shape = {rows, kHeldColumns};
  const Json tensors = {
      {{"name", "layer.{layer}.a"}, {"dtype", "f32"}, {"shape", shape}, {"role", "buffer"}},
      {{"name", "layer.{layer}.b"}, {"dtype", "f32"}, {"shape", shape}, {"role", "buffer"}},
      {{"name", "step"}, {"dtype", "i64"}, {"shape", Json::array()}, {"role", "scalar"}}};
  const auto cut = [](const char* first, const char* second) {
    Json dims = Json::array({Json::array(), Json::array()});
    if (*first != '\0') dims[0].push_back(first);
    if (*second != '\0') dims[1].push_back(second);
    return Json{{"dims", dims}};
  };
  const Json rules = {{{"match", "layer.{layer}.a"}, {"cut", cut("tp", "")}},
                      {{"match", "layer.{layer}.b"}, {"cut", cut("", "tp")}},
                      {{"match", "step"}, {"cut", "replicate"}, {"stage", "all"}}};
  return WriteJson(folder + "/tensors.json", {{"layers", kHeldLayers}, {"tensors", tensors}}) &&
         WriteJson(folder + "/rules.json", {{"rules", rules}});
}

/// The same matrices as parameters with the moments of AdamW (train_state.c).
inline bool WriteTrainedJob(const QString& folder, int rows) {
  const Json shape = {rows, kHeldColumns};
  const Json tensors = {
      {{"name", "layer.{layer}.a"}, {"dtype", "f32"}, {"shape", shape}, {"role", "param"}},
      {{"name", "layer.{layer}.b"}, {"dtype", "f32"}, {"shape", shape}, {"role", "param"}},
      {{"name", "step"}, {"dtype", "i64"}, {"shape", Json::array()}, {"role", "scalar"}}};
  return WriteHeldJob(folder, rows) &&
         WriteJson(folder + "/tensors.json",
                   {{"layers", kHeldLayers}, {"optimizer", "adamw"}, {"tensors", tensors}});
}

}  // namespace tessera::test
