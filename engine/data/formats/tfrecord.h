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

/// A sample is a record. The tokens of a tf.train.Example are the bytes of its feature "text";
/// those of any other record are its data.
///
/// The lengths and their CRCs are checked when the index is built, the CRC of the data each time a
/// record is read.
/// \error kDataLoss naming file and byte for a wrong CRC of a length or a record that is cut off;
///     kInvalidArgument naming file and byte for an Example without the bytes feature "text", and
///     if there is no record; as OpenIndex
Result<DatasetPtr> OpenTfRecords(std::vector<ByteSourcePtr> files, std::int64_t sequence,
                                 const IndexOptions& options);

}  // namespace tessera::engine
