#include "shim/wire.h"

#include <gtest/gtest.h>

#include "base/random.h"

namespace pondage::shim {
namespace {

Spec FullSpec() {
  Spec spec;
  spec.uid = "6c1f0c1e-0000-8000-8000-000000000001";
  spec.start = 7;
  spec.argv = {"python", "-c", "print('a\nb')", "", std::string("zero\0byte", 9)};
  spec.env = {"A=1", "EMPTY=", "LINES=a\nend 0 \nb"};
  spec.working_dir = "/srv/with space";
  spec.user = 1000;
  spec.group = 100;
  spec.groups = {100, 4, 27};
  spec.no_new_privileges = true;
  spec.log_cap_bytes = 1 << 20;
  spec.module_socket = "/x/module.sock";
  spec.agent_socket = "../../agent.sock";
  spec.cgroups = {"/sys/fs/cgroup/memory/pondage/x"};
  spec.oom_file = "/o";
  spec.kill_file = "/k";
  spec.freezer = "/f";
  spec.term_grace_ms = 5;
  spec.boot_id = "b";
  spec.written_unix_ms = 1'700'000'000'000;
  spec.checkpoint_dir = "/c";
  spec.expected_files = {"1 2 /a b", "3 4 /c"};
  spec.mounts = {std::string("ro 1 2 /a\0/b", 12), std::string("rw 3 4 /c\0/d e", 14)};
  return spec;
}

State FullState() {
  Ended ended{"u", 1, 77, 5, 137, "OOMKilled", "message", "PND-R007", 1, 2, "boot", 3, 4, 5};
  State state{"u", 1, 2, 3, 4, {true, 5, 6, "/ck pt", 613}, 7, ended, kExecLevel, {}};
  state.execs_ended = {{1, 0, ""}, {2, 137, "ended by\nsignal 9"}};
  return state;
}

TEST(Wire, WhatIsWrittenIsRead) {
  EXPECT_EQ(DecodeSpec(Encode(FullSpec())), FullSpec());
  EXPECT_EQ(DecodeState(Encode(FullState())), FullState());
  EXPECT_EQ(DecodeEnded(Encode(*FullState().ended)), FullState().ended);
  Command exec;
  exec.exec = Exec{7, {"sh", "-c", "a\nb", ""}, true};
  Command release;
  release.release = 7;
  for (const Command& command :
       {Command{30'000, false}, Command{std::nullopt, true}, Command{}, exec, release}) {
    EXPECT_EQ(DecodeCommand(Encode(command)), command);
  }
}

TEST(Wire, UnknownKeysAreSkippedAndOtherProtocolsRefused) {
  std::string bytes = Encode(Command{500, false});
  std::string newer = bytes;
  newer.insert(newer.find('\n') + 1, "brand-new 5 a\nb c\n");
  EXPECT_EQ(DecodeCommand(newer), (Command{500, false}));

  bytes.replace(bytes.find(" 1\n"), 3, " 2\n");
  EXPECT_FALSE(DecodeCommand(bytes));
  EXPECT_FALSE(DecodeSpec(Encode(FullState())));  // another kind
}

TEST(Wire, EveryTruncationIsNoticed) {
  const std::string whole = Encode(FullSpec());
  for (std::size_t size = 0; size < whole.size(); ++size) {
    EXPECT_FALSE(DecodeSpec(whole.substr(0, size))) << size;
  }
  EXPECT_FALSE(DecodeSpec(whole + "x"));
}

TEST(Wire, OddRecordsAreRefused) {
  const std::string heading = "pondage-command 1\n";
  struct Row {
    const char* says;
    const char* body;
  };
  const Row rows[] = {{"no length", "kill\nend 0 \n"},
                      {"negative length", "kill -1 1\nend 0 \n"},
                      {"length past the end", "kill 99999999 1\nend 0 \n"},
                      {"length of other digits", "kill 0x1 1\nend 0 \n"},
                      {"no line end", "kill 1 1end 0 \n"},
                      {"key too long", "kkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkk 1 1\nend 0 \n"},
                      {"no key", " 1 1\nend 0 \n"},
                      {"a truth of 2", "kill 1 2\nend 0 \n"},
                      {"no number", "stop-grace-ms 1 x\nend 0 \n"},
                      {"a number too large", "stop-grace-ms 20 99999999999999999999\nend 0 \n"},
                      {"negative grace", "stop-grace-ms 2 -1\nend 0 \n"},
                      {"no end", "kill 1 1\n"},
                      {"an end with content", "end 1 x\n"}};
  for (const Row& row : rows) EXPECT_FALSE(DecodeCommand(heading + row.body)) << row.says;
  EXPECT_TRUE(DecodeCommand(heading + "kill 1 1\nend 0 \n"));
}

TEST(Wire, AnyChangeIsReadOrRefusedButNeverMisread) {
  // What still decodes after random damage must survive another round unchanged.
  base::Random random(4);
  const std::string whole = Encode(FullState());
  for (int i = 0; i < 20'000; ++i) {
    std::string bytes = whole;
    const std::int64_t changes = random.Between(1, 4);
    for (std::int64_t c = 0; c < changes; ++c) {
      bytes[random.Below(bytes.size())] = static_cast<char>(random.Below(256));
    }
    const auto state = DecodeState(bytes);
    if (state) {
      EXPECT_EQ(DecodeState(Encode(*state)), state);
    }
  }
}

TEST(ModuleMessage, WhoOnlyMeasuresItsInputHasNotSaidHello) {
  Said said;
  EXPECT_TRUE(TakeModuleMessage("1 input-wait 300", said));
  EXPECT_FALSE(said.hello);
  EXPECT_TRUE(TakeModuleMessage("1 step 1", said));
  EXPECT_TRUE(said.hello) << "its greeting may have been lost";
}

TEST(ModuleMessage, TakesWhatIsAgreedAndIgnoresTheRest) {
  Said said;
  EXPECT_TRUE(TakeModuleMessage("1 hello", said));
  EXPECT_TRUE(said.hello);
  EXPECT_TRUE(TakeModuleMessage("1 step 42\n", said));
  EXPECT_TRUE(TakeModuleMessage("1 checkpoint 40 /with space/ckpt-40", said));
  EXPECT_TRUE(TakeModuleMessage("1 input-wait 1000", said));
  const Said want{true, 42, 40, "/with space/ckpt-40", 1000};
  EXPECT_EQ(said, want);
  for (const char* odd :
       {"", "1", "1 ", "hello", "2 hello", "1 hello there", "1 step", "1 step x", "1 step -1",
        "1 step 1 2", "1 step 99999999999999999999", "1 input-wait 1001", "1 unknown 3",
        "1 step 4\n5", "1 checkpoint 4 a\tb"}) {
    EXPECT_FALSE(TakeModuleMessage(odd, said)) << odd;
    EXPECT_EQ(said, want) << odd;
  }
  EXPECT_FALSE(TakeModuleMessage("1 checkpoint 4 " + std::string(kModuleMessageLimit, 'x'), said));
}

}  // namespace
}  // namespace pondage::shim
