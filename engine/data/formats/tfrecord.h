// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// TFRecord files (tensorflow/core/lib/io/record_writer.h): frames of u64 length, u32 masked
/// CRC-32C of the length, the data, u32 masked CRC-32C of the data.

#include <cstdint>
#include <vector>

#include "engine/data/dataset.h"
#include "engine/data/index_file.h"

namespace tessera::engine {

/// A sample is a record. Its tokens are the bytes of the feature "text" where the data is a
/// tf.train.Example that has one, else of the data.
///
/// The lengths and their CRCs are checked when the index is built, the CRC of the data each time a
/// record is read.
/// \error kDataLoss naming file and byte for a wrong CRC of a length or a record that is cut off;
///     kInvalidArgument if there is no record; of OpenIndex
Result<DatasetPtr> OpenTfRecords(std::vector<ByteSourcePtr> files, std::int64_t sequence,
                                 const IndexOptions& options);

}  // namespace tessera::engine
