// SPDX-License-Identifier: Apache-2.0
#include "tests/e2e/shell_job.h"

#include <QDir>
#include <QFile>

namespace tessera::test {
namespace {

constexpr char kShellJob[] = R"sh(
cd "$TESSERA_FOLDER"
init() {  # the header has 53 bytes
  printf '\065\0\0\0\0\0\0\0{"n":{"dtype":"U8","shape":[1],"data_offsets":[0,1]}}\0'
}
train_step() {
  { head -c -1 mine; printf "\\$(printf %03o "$1")"; } > next && mv next mine && echo 1.5
}
if [ -n "$TESSERA_STATE" ]; then
  cp "$TESSERA_STATE" mine; answer=go
  found=$(tail -c 1 mine | od -An -tu1 | tr -d ' ')
  [ "$found" = "$TESSERA_STEP" ] || { echo "the state is after step $found" >&2; exit 9; }
else
  init > mine; answer=save
fi
step=$TESSERA_STEP
while [ "$answer" = go ]; do
  sleep 0.1
  step=$((step + 1)); loss=$(train_step "$step")
  echo "$step $loss" > steps; read -r answer < answer
  [ ! -e state.safetensors ] || { echo "two copies of the state" >&2; exit 8; }
done
mv mine "$TESSERA_SAVE"
)sh";

}  // namespace

ShellJob WriteShellJob(const QString& folder) {
  const auto write = [&](const QString& name, const QByteArray& text) {
    QFile file(QDir(folder).filePath(name));
    const bool good = file.open(QIODevice::WriteOnly) && file.write(text) == text.size();
    return good ? file.fileName() : QString();
  };
  return {write(QStringLiteral("own.sh"), kShellJob),
          write(QStringLiteral("own.tensors.json"), R"({"layers": 0,
      "tensors": [{"name": "n", "dtype": "u8", "shape": [1], "role": "buffer"}]})"),
          write(QStringLiteral("own.rules.json"),
                R"({"rules": [{"match": "n", "cut": "replicate"}]})")};
}

}  // namespace tessera::test
