// SPDX-License-Identifier: Apache-2.0
// The emulated driver shows errors of its users: work is late, device memory is out of reach of
// host code, and stale handles and wrong addresses are refused.
#include <sys/wait.h>
#include <unistd.h>

#include <QTest>
#include <cstring>
#include <thread>
#include <vector>

#include "agents/gpu/cell_plan.h"
#include "agents/gpu/cuda_driver.h"
#include "agents/gpu/kernels/image.h"
#include "tests/support/test_main.h"
#include "tests/support/verify.h"

using namespace tessera;
namespace cuda = agents::cuda;

namespace {

constexpr std::size_t kSize = std::size_t{2} << 20;
constexpr cuda::Code kIllegalAddress = 700;

}  // namespace

class CudaEmulationTest : public QObject {
  Q_OBJECT
 private slots:
  void initTestCase() {
    const auto driver = agents::CudaDriver::Get();
    VERIFY_OK(driver);
    QVERIFY((*driver)->is_emulated());
    QCOMPARE(QString::fromStdString((*driver)->VersionText()), QStringLiteral("13.0 (emulated)"));
    m_api = &(*driver)->api();
    m_driver = *driver;
    cuda::Context context = nullptr;
    QCOMPARE(m_api->PrimaryCtxRetain(&context, 0), cuda::kSuccess);
    QCOMPARE(m_api->CtxSetCurrent(context), cuda::kSuccess);
    QCOMPARE(m_api->MemAlloc(&m_memory, kSize), cuda::kSuccess);
    void* host = nullptr;
    QCOMPARE(m_api->MemHostAlloc(&host, kSize, 0), cuda::kSuccess);
    m_host = static_cast<unsigned char*>(host);
    QCOMPARE(m_api->StreamCreate(&m_stream, cuda::kStreamNonBlocking), cuda::kSuccess);
  }

  void nothingIsThereBeforeSomebodyWaits() {
    std::memset(m_host, 1, 16);
    QCOMPARE(m_api->MemsetD8Async(m_memory, 9, 16, m_stream), cuda::kSuccess);
    QCOMPARE(m_api->MemcpyDtoHAsync(m_host, m_memory, 16, m_stream), cuda::kSuccess);
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    QCOMPARE(m_host[0], 1);
    QCOMPARE(m_api->StreamSynchronize(m_stream), cuda::kSuccess);
    QCOMPARE(m_host[0], 9);
  }

  // The source of a copy belongs to the stream until it is over.
  void aBufferThatIsUsedAgainTooEarlyShows() {
    m_host[0] = 5;
    QCOMPARE(m_api->MemcpyHtoDAsync(m_memory, m_host, 1, m_stream), cuda::kSuccess);
    m_host[0] = 6;
    QCOMPARE(m_api->MemcpyDtoHAsync(m_host + 1, m_memory, 1, m_stream), cuda::kSuccess);
    QCOMPARE(m_api->StreamSynchronize(m_stream), cuda::kSuccess);
    QCOMPARE(m_host[1], 6);
  }

  void streamsHaveNoOrderWithoutEvents() {
    cuda::Stream other = nullptr;
    cuda::Event event = nullptr;
    QCOMPARE(m_api->StreamCreate(&other, 0), cuda::kSuccess);
    QCOMPARE(m_api->EventCreate(&event, 0), cuda::kSuccess);
    QCOMPARE(m_api->MemsetD8Async(m_memory, 1, 1, m_stream), cuda::kSuccess);
    QCOMPARE(m_api->StreamSynchronize(m_stream), cuda::kSuccess);

    QCOMPARE(m_api->MemsetD8Async(m_memory, 2, 1, m_stream), cuda::kSuccess);
    QCOMPARE(m_api->MemcpyDtoHAsync(m_host, m_memory, 1, other), cuda::kSuccess);
    QCOMPARE(m_api->StreamSynchronize(other), cuda::kSuccess);
    QCOMPARE(m_host[0], 1);  // nobody has waited for the first stream

    QCOMPARE(m_api->EventRecord(event, m_stream), cuda::kSuccess);
    QCOMPARE(m_api->StreamWaitEvent(other, event, 0), cuda::kSuccess);
    QCOMPARE(m_api->MemcpyDtoHAsync(m_host, m_memory, 1, other), cuda::kSuccess);
    QCOMPARE(m_api->StreamSynchronize(other), cuda::kSuccess);
    QCOMPARE(m_host[0], 2);
    QCOMPARE(m_api->EventQuery(event), cuda::kSuccess);
    QCOMPARE(m_api->EventDestroy(event), cuda::kSuccess);
    QCOMPARE(m_api->StreamDestroy(other), cuda::kSuccess);
    QCOMPARE(m_api->StreamSynchronize(other), cuda::kInvalidHandle);
  }

  void aQuestionLetsWorkBegin() {
    QCOMPARE(m_api->MemsetD8Async(m_memory, 3, 1, m_stream), cuda::kSuccess);
    QCOMPARE(m_api->StreamQuery(m_stream), cuda::kNotReady);
    QTRY_COMPARE(m_api->StreamQuery(m_stream), cuda::kSuccess);
  }

  void hostCodeCannotUseDeviceMemory() {
    const pid_t child = ::fork();
    if (child == 0) {
      ::signal(SIGSEGV, SIG_DFL);
      ::_exit(*reinterpret_cast<volatile unsigned char*>(m_memory));
    }
    int status = 0;
    QCOMPARE(::waitpid(child, &status, 0), child);
    QVERIFY(WIFSIGNALED(status) && WTERMSIG(status) == SIGSEGV);
  }

  void calls_needAContext() {
    std::thread([this] {
      std::size_t free_bytes = 0, total = 0;
      m_without = m_api->MemGetInfo(&free_bytes, &total);
    }).join();
    QCOMPARE(m_without, cuda::kInvalidContext);
  }

  void peersAreThoseOfTheSettings() {
    int can = -1;
    QCOMPARE(m_api->DeviceCanAccessPeer(&can, 0, 1), cuda::kSuccess);
    QCOMPARE(can, 1);
    QCOMPARE(m_api->DeviceCanAccessPeer(&can, 1, 2), cuda::kSuccess);
    QCOMPARE(can, 0);
    const cuda::Access refused{{cuda::kLocationDevice, 2}};
    QCOMPARE(m_api->MemSetAccess(m_memory, kSize, &refused, 1), cuda::kInvalidDevice);
  }

  void memoryOfADeviceIsLimited() {
    cuda::AllocationHandle handle = 0;
    cuda::AllocationProperties properties;
    properties.location.id = 1;
    QCOMPARE(m_api->MemCreate(&handle, std::size_t{256} << 20, &properties, 0), cuda::kSuccess);
    cuda::AllocationHandle second = 0;
    QCOMPARE(m_api->MemCreate(&second, kSize, &properties, 0), cuda::kOutOfMemory);
    QCOMPARE(m_api->MemRelease(handle), cuda::kSuccess);
    QCOMPARE(m_api->MemRelease(handle), cuda::kInvalidValue);
    QCOMPARE(m_api->MemCreate(&second, kSize + 1, &properties, 0), cuda::kInvalidValue);
    QCOMPARE(m_api->MemCreate(&second, kSize, &properties, 0), cuda::kSuccess);
    QCOMPARE(m_api->MemRelease(second), cuda::kSuccess);
  }

  // The last test: the context has failed then, as one of a GPU has.
  void zAnIllegalAddressFailsTheContext() {
    cuda::Module module = nullptr;
    cuda::Function function = nullptr;
    QCOMPARE(m_api->ModuleLoadData(&module, agents::gpu::KernelImage().data()), cuda::kSuccess);
    QCOMPARE(m_api->ModuleGetFunction(&function, module, "another"), cuda::kNotFound);
    QCOMPARE(m_api->ModuleGetFunction(&function, module, agents::gpu::kCellKernel), cuda::kSuccess);
    const ptc::Box box = *ptc::Box::Whole({64});
    const auto at = [&](std::uint64_t address) {
      return engine::CellView(box, box, 4, reinterpret_cast<std::byte*>(address));
    };
    const engine::CellView inside = at(m_memory), behind = at(m_memory + kSize - 128);
    agents::gpu::CellWork work = agents::gpu::CopyWork(inside, behind, nullptr, 0, 256, 0);
    void* arguments[] = {&work};
    QCOMPARE(m_api->LaunchKernel(function, 1, 1, 1, 32, 1, 1, 0, m_stream, arguments, nullptr),
             cuda::kSuccess);
    QCOMPARE(m_api->StreamSynchronize(m_stream), kIllegalAddress);
    QCOMPARE(m_api->MemsetD8Async(m_memory, 0, 1, m_stream), kIllegalAddress);
  }

 private:
  std::shared_ptr<const agents::CudaDriver> m_driver;
  const cuda::Functions* m_api = nullptr;
  cuda::DevicePointer m_memory = 0;
  unsigned char* m_host = nullptr;
  cuda::Stream m_stream = nullptr;
  cuda::Code m_without = cuda::kSuccess;
};

TESSERA_TEST_APPLESS(CudaEmulationTest)
#include "cuda_emulation_test.moc"
