#include "api/exec_talk.h"

#include <fmt/format.h>
#include <spdlog/spdlog.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/json.hpp>
#include <cerrno>
#include <chrono>
#include <optional>
#include <utility>

#include "api/exec_ends.h"
#include "api/talk.h"

namespace pondage::api {

namespace asio = boost::asio;
namespace json = boost::json;

namespace {

constexpr std::size_t kPieceBytes = 32 << 10;
constexpr std::size_t kResizeBytes = 256;
// When the program is gone and somebody else still holds its terminal: more than a terminal of this
// kernel keeps unread, and for how long it may look empty while the kernel hands on what it keeps.
constexpr std::size_t kTerminalKeeps = 64 << 10;
constexpr auto kTerminalSettles = std::chrono::milliseconds(500);

// Channels: the first byte of each message.
constexpr char kIn = 0, kOut = 1, kErr = 2, kStatus = 3, kResize = 4;
constexpr char kClose = static_cast<char>(255);  // the byte behind it: of which channel
constexpr char kNone = 127;

std::string StatusMessage(const base::Result<port::ExecExit>& exit) {
  json::object status{{"kind", "Status"}, {"apiVersion", "v1"}, {"metadata", json::object()}};
  if (exit && exit->code == 0) {
    status["status"] = "Success";
  } else if (exit) {
    const std::string code = std::to_string(exit->code);
    status["status"] = "Failure";
    status["reason"] = "NonZeroExitCode";
    status["message"] = "command terminated with non-zero exit code: exit status " + code;
    status["details"] = {
        {"causes", json::array{json::object{{"reason", "ExitCode"}, {"message", code}}}}};
  } else {
    status["status"] = "Failure";
    status["reason"] = "InternalError";
    status["message"] = exit.error().message;
    status["code"] = 500;
  }
  return kStatus + json::serialize(status);
}

// Where the program's output comes from.
struct Outlet {
  char channel;
  asio::posix::stream_descriptor from;
  std::optional<std::size_t> left;  // to be read still, once the program is gone
  bool waits = false;
  bool ended = false;
};

class ExecTalk : public Talk, public std::enable_shared_from_this<ExecTalk> {
 public:
  ExecTalk(port::Exec& exec, ExecPlan plan, ExecEnds ends, std::shared_ptr<void> seat)
      : exec_(exec), plan_(std::move(plan)), ends_(std::move(ends)), seat_(std::move(seat)) {}

  void Begin(Line& line, asio::any_io_executor executor) override;
  void OnPiece(std::string_view bytes, bool first, bool last) override;
  void OnSent() override {
    sending_ = false;
    if (told_) return line_->HangUp();
    Pump();
  }

 private:
  void Send(std::string message) {
    sending_ = true;
    line_->Send(std::move(message));
  }
  void Pump();
  bool SendSome(Outlet& outlet);
  void Await(Outlet& outlet);
  void AwaitQuiet(Outlet& outlet);
  void OnExit(base::Result<port::ExecExit> exit);
  void Tell();
  void WriteIn();
  void CloseIn();
  void Resize();

  port::Exec& exec_;
  const ExecPlan plan_;
  ExecEnds ends_;
  const std::shared_ptr<void> seat_;
  Line* line_ = nullptr;
  std::vector<Outlet> outlets_;
  std::size_t turn_ = 0;  // whose outlet is looked at first
  std::optional<asio::posix::stream_descriptor> in_;
  std::string unwritten_;  // of the client's input
  char channel_ = kNone;   // of the message that comes in
  std::string control_;    // a message that is no input, as far as it came
  std::optional<asio::steady_timer> settled_;
  int quiet_ = 0;  // tells one silence of the terminal from the next
  std::optional<base::Result<port::ExecExit>> exit_;
  std::string notice_;  // why the program did not run, for a human
  bool sending_ = false;
  bool told_ = false;                           // the status is sent
  std::unique_ptr<port::Exec::Handle> handle_;  // goes first: nothing is called behind it
};

void ExecTalk::Begin(Line& line, asio::any_io_executor executor) {
  line_ = &line;
  outlets_.reserve(2);  // waiting handlers refer to them
  if (ends_.from_out) {
    outlets_.push_back({kOut, {executor, ends_.from_out.Release()}, {}});
  }
  if (ends_.from_err) {
    outlets_.push_back({kErr, {executor, ends_.from_err.Release()}, {}});
  }
  if (plan_.in) in_.emplace(executor, ends_.to_in.Release());
  settled_.emplace(executor);
  // An empty message says that the connection stands.
  Send(std::string(1, outlets_.empty() ? kStatus : outlets_.front().channel));
  line_->ReadOn();
  port::ExecRequest request{.uid = plan_.uid,
                            .argv = plan_.argv,
                            .in = ends_.in.Release(),
                            .out = ends_.out.Release(),
                            .err = ends_.err.Release(),
                            .terminal = plan_.terminal};
  handle_ = exec_.Start(std::move(request),
                        [weak = weak_from_this(), executor](base::Result<port::ExecExit> exit) {
                          asio::post(executor, [weak, exit = std::move(exit)]() mutable {
                            if (const auto self = weak.lock()) self->OnExit(std::move(exit));
                          });
                        });
}

// Sends one piece of output, or waits for some, or tells the end.
void ExecTalk::Pump() {
  if (sending_ || told_) return;
  bool ended = true;
  for (std::size_t i = 0; i < outlets_.size(); ++i) {
    const std::size_t at = (turn_ + i) % outlets_.size();
    if (!outlets_[at].ended && SendSome(outlets_[at])) {
      turn_ = at + 1;
      return;
    }
    ended = ended && outlets_[at].ended;
  }
  if (ended && exit_) Tell();
}

bool ExecTalk::SendSome(Outlet& outlet) {
  const std::size_t most = std::min(kPieceBytes, outlet.left.value_or(kPieceBytes));
  std::string message(1 + most, outlet.channel);
  ssize_t got = 0;
  if (most > 0) {
    do {
      got = read(outlet.from.native_handle(), message.data() + 1, most);
    } while (got < 0 && errno == EINTR);
  }
  if (got > 0) {
    ++quiet_;
    if (outlet.left) *outlet.left -= static_cast<std::size_t>(got);
    message.resize(1 + static_cast<std::size_t>(got));
    Send(std::move(message));
    return true;
  }
  if (got < 0 && errno == EAGAIN) {
    Await(outlet);
    if (plan_.terminal && exit_) AwaitQuiet(outlet);
  } else {  // a terminal whose last holder is gone says EIO
    outlet.ended = true;
    outlet.from.close();
  }
  return false;
}

void ExecTalk::Await(Outlet& outlet) {
  if (std::exchange(outlet.waits, true)) return;
  outlet.from.async_wait(asio::posix::stream_descriptor::wait_read,
                         [weak = weak_from_this(), &outlet](boost::system::error_code) {
                           const auto self = weak.lock();
                           if (!self) return;
                           outlet.waits = false;
                           self->Pump();
                         });
}

// Only here, where the client takes more than there is: a slow one is given all the time it needs.
void ExecTalk::AwaitQuiet(Outlet& outlet) {
  settled_->expires_after(kTerminalSettles);
  settled_->async_wait(
      [weak = weak_from_this(), &outlet, round = ++quiet_](boost::system::error_code error) {
        const auto self = weak.lock();
        if (error || !self || self->quiet_ != round) return;
        outlet.left = 0;
        self->Pump();
      });
}

// What the program wrote lies in the pipes now and is still sent; what others write who hold them
// after it is not waited for. What a terminal holds cannot be asked: it is read until nobody holds
// it any more, or until it is quiet.
void ExecTalk::OnExit(base::Result<port::ExecExit> exit) {
  if (!exit) spdlog::warn("exec in the Pod of uid {}: {}", plan_.uid, exit.error().message);
  if (exit && (exit->code == 126 || exit->code == 127)) notice_ = exit->message;
  exit_ = std::move(exit);
  CloseIn();
  for (Outlet& outlet : outlets_) {
    int there = 0;
    if (!outlet.ended) ioctl(outlet.from.native_handle(), FIONREAD, &there);
    outlet.left = plan_.terminal ? kTerminalKeeps : static_cast<std::size_t>(std::max(there, 0));
  }
  Pump();
}

void ExecTalk::Tell() {
  if (!notice_.empty() && !outlets_.empty()) {
    return Send(outlets_.back().channel + std::exchange(notice_, "") + "\n");
  }
  told_ = true;
  Send(StatusMessage(*exit_));
}

void ExecTalk::OnPiece(std::string_view bytes, bool first, bool last) {
  if (first) {
    control_.clear();
    channel_ = bytes.empty() ? kNone : bytes.front();
    bytes.remove_prefix(std::min<std::size_t>(bytes.size(), 1));
  }
  if (channel_ == kIn) {
    if (in_) unwritten_ = bytes;
    return WriteIn();
  }
  if (control_.size() < kResizeBytes) control_.append(bytes.substr(0, kResizeBytes));
  if (last && channel_ == kResize) Resize();
  if (last && channel_ == kClose && plan_.closes && control_ == std::string(1, kIn)) {
    if (plan_.terminal && in_) {  // a terminal is never closed to its program: that reads ^D
      termios modes{};
      const bool lines = tcgetattr(in_->native_handle(), &modes) == 0 && (modes.c_lflag & ICANON);
      if (lines) unwritten_ = std::string(1, static_cast<char>(modes.c_cc[VEOF]));
      return WriteIn();
    }
    CloseIn();
  }
  line_->ReadOn();
}

// Reads on when the program took it, or takes no more.
void ExecTalk::WriteIn() {
  while (in_ && !unwritten_.empty()) {
    const ssize_t put = write(in_->native_handle(), unwritten_.data(), unwritten_.size());
    if (put > 0) {
      unwritten_.erase(0, static_cast<std::size_t>(put));
    } else if (put < 0 && errno == EAGAIN) {
      return in_->async_wait(asio::posix::stream_descriptor::wait_write,
                             [weak = weak_from_this()](boost::system::error_code) {
                               if (const auto self = weak.lock()) self->WriteIn();
                             });
    } else if (put < 0 && errno != EINTR) {
      CloseIn();
    }
  }
  unwritten_.clear();
  line_->ReadOn();
}

void ExecTalk::CloseIn() {
  in_.reset();  // a WriteIn() that waits goes on then
}

// {"Width":80,"Height":24}
void ExecTalk::Resize() {
  boost::system::error_code error;
  const json::value size = json::parse(control_, error);
  if (error || !size.is_object() || !plan_.terminal || outlets_.empty()) return;
  const auto cells = [&size](std::string_view name) -> unsigned short {
    const json::value* number = size.get_object().if_contains(name);
    const bool fits = number && number->is_int64() && number->get_int64() > 0;
    return fits ? static_cast<unsigned short>(std::min<std::int64_t>(number->get_int64(), 65'535))
                : 0;
  };
  winsize window{};
  window.ws_col = cells("Width");
  window.ws_row = cells("Height");
  if (window.ws_col == 0 || window.ws_row == 0) return;
  if (!outlets_.front().ended) ioctl(outlets_.front().from.native_handle(), TIOCSWINSZ, &window);
}

}  // namespace

std::shared_ptr<void> ExecSeats::Take(const std::shared_ptr<ExecSeats>& seats) {
  if (seats->free_.fetch_sub(1) <= 0) {
    ++seats->free_;
    return nullptr;
  }
  return {seats.get(), [seats](void*) { ++seats->free_; }};
}

base::Result<std::shared_ptr<Talk>> MakeExecTalk(port::Exec& exec, ExecPlan plan,
                                                 std::shared_ptr<void> seat) {
  TRY(auto ends,
      plan.terminal ? ExecEnds::Terminal() : ExecEnds::Pipes(plan.in, plan.out, plan.err));
  return std::make_shared<ExecTalk>(exec, std::move(plan), std::move(ends), std::move(seat));
}

}  // namespace pondage::api
