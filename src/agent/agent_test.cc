#include "agent/agent.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

namespace pondage::agent {
namespace {

class FakeProbe : public port::GpuProbe {
 public:
  explicit FakeProbe(port::GpuInventory& shown, bool& fails) : shown_(shown), fails_(fails) {}
  base::Result<port::GpuInventory> Read() override {
    if (fails_) return base::Fail(base::Kind::kUnavailable, "PND-N001", "", "gone");
    return shown_;
  }

 private:
  port::GpuInventory& shown_;
  bool& fails_;
};

class AgentTest : public ::testing::Test {
 protected:
  AgentTest() {
    for (const char* id : {"GPU-a", "GPU-b"}) {
      port::GpuReading gpu;
      gpu.id = id;
      gpu.type = "H100";
      gpu.memory = base::Bytes{std::int64_t{80} << 30};
      shown_.gpus.push_back(gpu);
    }
    shown_.driver = "550.54.15";
  }

  Agent& Make(AgentSettings settings = {}) {
    settings.node_name = "lab";
    settings.data_dir = "/tmp";
    agent_ = std::make_unique<Agent>(
        settings, std::make_unique<FakeProbe>(shown_, fails_), [this] { return running_; }, clock_,
        [this](fleet::Node node, const manifest::MachineFacts& facts) {
          nodes_.push_back(std::move(node));
          facts_ = facts;
        });
    return *agent_;
  }

  port::GpuInventory shown_;
  bool fails_ = false;
  std::vector<run::Running> running_;
  port::ManualClock clock_;
  std::vector<fleet::Node> nodes_;
  manifest::MachineFacts facts_;
  std::unique_ptr<Agent> agent_;
};

TEST_F(AgentTest, TellsTheNodeWhenItChanged) {
  Agent& agent = Make({.node_name = "",
                       .data_dir = "",
                       .cpu = base::MilliCpu{8000},
                       .memory = base::Bytes{1 << 30}});
  agent.Look();
  agent.Look();
  ASSERT_EQ(nodes_.size(), 1u);
  EXPECT_EQ(nodes_[0].name, "lab");
  EXPECT_EQ(nodes_[0].cpu.value, 8000);
  EXPECT_EQ(nodes_[0].health, fleet::Health::kReady);
  ASSERT_EQ(nodes_[0].gpus.size(), 2u);
  EXPECT_EQ(nodes_[0].gpus[1].id, "GPU-b");
  EXPECT_EQ(facts_.driver, "550.54.15");
  EXPECT_FALSE(facts_.kernel.empty());
  EXPECT_EQ(agent.Gpus().gpus.size(), 2u);

  shown_.gpus[0].healthy = false;
  agent.Look();
  ASSERT_EQ(nodes_.size(), 2u);
  EXPECT_FALSE(nodes_[1].gpus[0].healthy);
}

TEST_F(AgentTest, ADriverThatWentAwayLeavesBrokenGpus) {
  Agent& agent = Make();
  agent.Look();
  fails_ = true;
  agent.Look();
  ASSERT_EQ(nodes_.size(), 2u);
  EXPECT_EQ(nodes_[1].gpus.size(), 2u);
  EXPECT_FALSE(nodes_[1].gpus[0].healthy || nodes_[1].gpus[1].healthy);
}

TEST_F(AgentTest, AProcessFromOutsideThePoolMakesItsGpuForeign) {
  const pid_t child = fork();
  if (child == 0) {
    pause();
    _exit(0);
  }
  shown_.gpus[0].processes = {{child, base::Bytes{1 << 30}}};
  shown_.gpus[1].processes = {{getpid(), base::Bytes{1 << 30}}};
  run::Running replica;
  replica.uid = "ours";
  replica.shim_pid = getpid();  // the child is below it, this process is not
  replica.said.step = 7;
  running_ = {replica};
  Agent& agent = Make();
  agent.Look();
  EXPECT_FALSE(nodes_.back().gpus[0].foreign);
  EXPECT_TRUE(nodes_.back().gpus[1].foreign);
  ASSERT_EQ(agent.Replicas().size(), 1u);
  EXPECT_EQ(agent.Replicas()[0].step, 7);
  EXPECT_GT(agent.Replicas()[0].memory_bytes, 0);
  EXPECT_GE(agent.Replicas()[0].cpu_ms, 0);

  kill(child, SIGKILL);
  waitpid(child, nullptr, 0);
  shown_.gpus[1].processes = {};
  agent.Look();  // the driver still lists it: it may just have ended
  EXPECT_FALSE(nodes_.back().gpus[0].foreign);
  agent.Look();
  EXPECT_TRUE(nodes_.back().gpus[0].foreign);
}

TEST_F(AgentTest, BelowTheDiskFloorNothingNewStarts) {
  Agent& agent =
      Make({.node_name = "", .data_dir = "", .disk_floor = base::Bytes{std::int64_t{1} << 60}});
  agent.Look();
  EXPECT_THAT(nodes_.back().trouble, ::testing::HasSubstr("MiB are free"));
  EXPECT_EQ(nodes_.back().health, fleet::Health::kReady) << "a cordon is for people";
}

TEST_F(AgentTest, LooksByItselfUntilItEnds) {
  Make().Begin();
  while (agent_->Gpus().gpus.empty()) usleep(1000);
  agent_.reset();
  EXPECT_EQ(nodes_.size(), 1u);
}

}  // namespace
}  // namespace pondage::agent
