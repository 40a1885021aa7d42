#include "run/nvml_probe.h"

#include <dlfcn.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "base/test_directory.h"
#include "run/virtual_probe.h"

namespace pondage::run {
namespace {

namespace fs = std::filesystem;

class NvmlTest : public ::testing::Test {
 protected:
  NvmlTest() : library_(std::string(PONDAGE_BIN_DIR) + "/libfake_nvml.so") {
    handle_ = dlopen(library_.c_str(), RTLD_NOW | RTLD_LOCAL);  // the same one that the probe gets
    EXPECT_NE(handle_, nullptr) << dlerror();
    reinterpret_cast<void (*)()>(dlsym(handle_, "FakeNvmlReset"))();
    fs::create_directories(sys_ / "bus/pci/devices/0000:3b:00.0");
    std::ofstream(sys_ / "bus/pci/devices/0000:3b:00.0/numa_node") << "1\n";
  }
  ~NvmlTest() override { dlclose(handle_); }
  void Set(const std::string& key, long value) {
    reinterpret_cast<void (*)(const char*, long)>(dlsym(handle_, "FakeNvmlSet"))(key.c_str(),
                                                                                 value);
  }
  port::GpuInventory Read(NvmlProbe& probe) {
    auto read = probe.Read();
    EXPECT_TRUE(read);
    return read ? *read : port::GpuInventory{};
  }
  std::unique_ptr<NvmlProbe> Load() {
    auto probe = NvmlProbe::Load(library_, sys_);
    EXPECT_TRUE(probe);
    return probe ? *std::move(probe) : nullptr;
  }

  std::string library_;
  void* handle_;
  const base::TestDirectory place_;
  const fs::path sys_ = place_.path();
};

TEST_F(NvmlTest, ReadsWhatTheDriverSays) {
  Set("1.used", 5 << 20);
  Set("1.utilisation", 37);
  Set("1.processes", 3);
  const auto probe = Load();
  const auto inventory = Read(*probe);
  EXPECT_EQ(inventory.driver, "550.54.15");
  EXPECT_EQ(inventory.cuda, "12.4");
  ASSERT_EQ(inventory.gpus.size(), 4u);
  const port::GpuReading& gpu = inventory.gpus[1];
  EXPECT_EQ(gpu.id, "GPU-00000001");
  EXPECT_EQ(gpu.type, "NVIDIA A100-SXM4-80GB");
  EXPECT_EQ(gpu.memory.value, std::int64_t{80} << 30);
  EXPECT_EQ(gpu.memory_used.value, 5 << 20);
  EXPECT_EQ(gpu.pci, "0000:3b:00.0");
  EXPECT_EQ(gpu.numa, 1);
  EXPECT_EQ(gpu.island, -1);
  EXPECT_EQ(gpu.utilisation_percent, 37);
  EXPECT_EQ(gpu.temperature_c, 40);
  EXPECT_EQ(gpu.power_w, 56);
  EXPECT_TRUE(gpu.healthy);  // rows that were remapped are no fault
  ASSERT_EQ(gpu.processes.size(), 3u);
  EXPECT_EQ(gpu.processes[0].memory.value, 0);  // not known
  EXPECT_EQ(gpu.processes[2].memory.value, 1 << 30);
  EXPECT_EQ(inventory.gpus[0].utilisation_percent, -1);  // not supported
  EXPECT_EQ(inventory.gpus[0].numa, -1);
}

TEST_F(NvmlTest, ManyProcessesNeedASecondQuestion) {
  Set("0.processes", 300);
  EXPECT_EQ(Read(*Load()).gpus[0].processes.size(), 300u);
}

TEST_F(NvmlTest, MemoryThatCannotBeCorrectedIsAFault) {
  Set("0.ecc", 1);
  Set("1.remap.failed", 1);
  Set("2.ecc", 1);
  Set("2.ecc.unsupported", 1);
  const auto gpus = Read(*Load()).gpus;
  EXPECT_FALSE(gpus[0].healthy);
  EXPECT_FALSE(gpus[1].healthy);
  EXPECT_TRUE(gpus[2].healthy);
  EXPECT_TRUE(gpus[3].healthy);
}

TEST_F(NvmlTest, AGpuThatIsLostKeepsItsPlaceAndName) {
  const auto probe = Load();
  Read(*probe);
  Set("1.lost", 1);
  auto gpus = Read(*probe).gpus;
  ASSERT_EQ(gpus.size(), 4u);
  EXPECT_EQ(gpus[1].id, "GPU-00000001");
  EXPECT_FALSE(gpus[1].healthy);
  EXPECT_TRUE(gpus[2].healthy);
  Set("count", 3);  // the last one is not even counted any more
  gpus = Read(*probe).gpus;
  ASSERT_EQ(gpus.size(), 4u);
  EXPECT_EQ(gpus[3].id, "GPU-00000003");
  EXPECT_FALSE(gpus[3].healthy);
  Set("count", 4);
  Set("1.lost", 0);
  EXPECT_TRUE(Read(*probe).gpus[1].healthy);
}

TEST_F(NvmlTest, LinksMakeIslands) {
  Set("0.link.0", 3 + 1);  // GPU 0 to GPU 3, and back
  Set("3.link.5", 0 + 1);
  Set("1.link.0", 101);  // GPUs 1 and 2 at one switch
  Set("2.link.2", 101);
  auto gpus = Read(*Load()).gpus;
  EXPECT_EQ(gpus[0].island, 0);
  EXPECT_EQ(gpus[3].island, 0);
  EXPECT_EQ(gpus[1].island, 1);
  EXPECT_EQ(gpus[2].island, 1);
  Set("2.link.2", 0);
  gpus = Read(*Load()).gpus;
  EXPECT_EQ(gpus[1].island, -1);  // alone at its switch
  EXPECT_EQ(gpus[2].island, -1);
}

TEST_F(NvmlTest, WithoutADriverThereAreNoGpus) {
  EXPECT_EQ(NvmlProbe::Load("/no/such/libnvidia-ml.so.1").error().id, "PND-N001");
  EXPECT_EQ(NvmlProbe::Load("libm.so.6").error().id, "PND-N001");
  Set("init", 9);
  EXPECT_EQ(NvmlProbe::Load(library_).error().id, "PND-N001");
  Set("init", 0);
  const auto probe = Load();
  Set("count.result", 999);
  EXPECT_EQ(probe->Read().error().kind, base::Kind::kUnavailable);
}

TEST(VirtualProbe, IsDeclared) {
  auto probe = VirtualProbe::Declare("3:H100:80Gi");
  ASSERT_TRUE(probe);
  const auto inventory = *probe->Read();
  ASSERT_EQ(inventory.gpus.size(), 3u);
  EXPECT_EQ(inventory.gpus[2].id, "virtual-2");
  EXPECT_EQ(inventory.gpus[2].type, "H100");
  EXPECT_EQ(inventory.gpus[2].memory.value, std::int64_t{80} << 30);
  EXPECT_TRUE(inventory.gpus[2].is_virtual && inventory.gpus[2].healthy);
  EXPECT_TRUE(VirtualProbe::Declare("0")->Read()->gpus.empty());
  EXPECT_EQ(VirtualProbe::Declare("2:A100")->Read()->gpus.size(), 2u);
  for (const char* odd : {"", "x", "-1", "2000", "2x", "2:", "2::80Gi", "2:A:B:80Gi",
                          "2:A:", "2:A:80Zi", "2:A:0", "2:A:99999999999Ti"}) {
    EXPECT_FALSE(VirtualProbe::Declare(odd)) << odd;
  }
}

}  // namespace
}  // namespace pondage::run
