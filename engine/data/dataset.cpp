// SPDX-License-Identifier: Apache-2.0
#include "engine/data/dataset.h"

#include "ptc/base/check.h"

namespace tessera::engine {

std::string_view ToString(DataFormat format) {
  switch (format) {
    case DataFormat::kText:
      return "text";
    case DataFormat::kMegatron:
      return "megatron";
    case DataFormat::kTfRecord:
      return "tfrecord";
    case DataFormat::kTar:
      return "tar";
  }
  CheckFailed(__FILE__, __LINE__, "a known data format");
}

}  // namespace tessera::engine
