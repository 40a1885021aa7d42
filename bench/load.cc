// A client that loads an API server (Pondage's, or a kube-apiserver) and says how it did.
//
//   bench_load --server HOST:PORT --ca FILE --token FILE --connections N --count N
//              --path COLLECTION [--body FILE] [--first N] [--table] create|get|list|patch|watch
//
// Prints one line of JSON: operations a second, p50, p99 and slowest in ms, bytes of an answer, CPU
// seconds of its own. One thread; each connection is kept and has one request under way. In the
// body, every NAME is replaced by the object's name, load-<number>, from --first on. `watch` opens
// N watches, then changes one object `count` times, each time when all watches have seen the change
// before; its times are from the change being sent to a watch having it, and it prints
// `last_p50_ms` for the slowest watch of each.

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <boost/asio.hpp>
#include <boost/asio/ssl.hpp>
#include <boost/beast/core.hpp>
#include <boost/beast/http.hpp>
#include <chrono>
#include <cstdlib>
#include <ctime>
#include <fstream>
#include <iterator>
#include <memory>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

namespace pondage::bench {
namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace http = beast::http;
using asio::use_awaitable;
using Clock = std::chrono::steady_clock;
using Stream = asio::ssl::stream<asio::ip::tcp::socket>;

struct Settings {
  std::string server, ca, token_file, path, body_file, verb;
  int connections = 1;
  int count = 1;
  int first = 0;
  bool table = false;
};

std::string ReadFile(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) throw std::runtime_error("cannot read " + path);
  return {std::istreambuf_iterator<char>(file), {}};
}

std::string Replaced(std::string text, const std::string& from, const std::string& to) {
  for (std::size_t at = text.find(from); at != std::string::npos; at = text.find(from, at)) {
    text.replace(at, from.size(), to);
    at += to.size();
  }
  return text;
}

double Milliseconds(Clock::duration length) {
  return std::chrono::duration<double, std::milli>(length).count();
}

// Nearest rank.
double Percentile(std::vector<double>& sorted, int share) {
  if (sorted.empty()) return 0;
  const std::size_t rank = (sorted.size() * static_cast<std::size_t>(share) + 99) / 100;
  return sorted[std::max<std::size_t>(rank, 1) - 1];
}

class Load {
 public:
  explicit Load(Settings settings) : settings_(std::move(settings)) {
    const auto colon = settings_.server.rfind(':');
    host_ = settings_.server.substr(0, colon);
    port_ = settings_.server.substr(colon + 1);
    context_.load_verify_file(settings_.ca);
    context_.set_verify_mode(asio::ssl::verify_peer);
    token_ = ReadFile(settings_.token_file);
    token_.erase(token_.find_last_not_of(" \r\n") + 1);
    if (!settings_.body_file.empty()) body_ = ReadFile(settings_.body_file);
  }

  void Run() {
    const auto done = [this](std::exception_ptr trouble) {
      if (trouble && !trouble_) trouble_ = trouble;
      if (trouble) io_.stop();
    };
    if (settings_.verb == "watch") {
      asio::co_spawn(io_, WatchAndChange(), done);
    } else {
      asio::co_spawn(io_, Operate(), done);
    }
    io_.run();
    if (trouble_) std::rethrow_exception(trouble_);
    Print();
  }

 private:
  using Request = http::request<http::string_body>;

  asio::awaitable<std::unique_ptr<Stream>> Connect() {
    auto stream = std::make_unique<Stream>(io_, context_);
    asio::ip::tcp::resolver resolver(io_);
    const auto places = co_await resolver.async_resolve(host_, port_, use_awaitable);
    co_await asio::async_connect(stream->next_layer(), places, use_awaitable);
    stream->next_layer().set_option(asio::ip::tcp::no_delay(true));
    co_await stream->async_handshake(asio::ssl::stream_base::client, use_awaitable);
    co_return stream;
  }

  Request Prepare(http::verb verb, const std::string& target) const {
    Request request(verb, target, 11);
    request.set(http::field::host, host_);
    request.set(http::field::authorization, "Bearer " + token_);
    request.set(http::field::accept, settings_.table
                                         ? "application/json;as=Table;v=v1;g=meta.k8s.io"
                                         : "application/json");
    return request;
  }

  std::string Name(int number) const { return fmt::format("load-{:06}", number); }

  Request MakeRequest(int number) const {
    const std::string name = Name(number);
    if (settings_.verb == "list") return Prepare(http::verb::get, settings_.path);
    if (settings_.verb == "get") return Prepare(http::verb::get, settings_.path + "/" + name);
    const bool create = settings_.verb == "create";
    Request request = create ? Prepare(http::verb::post, settings_.path)
                             : Prepare(http::verb::patch, settings_.path + "/" + name);
    request.set(http::field::content_type,
                create ? "application/json" : "application/merge-patch+json");
    request.body() = create ? Replaced(body_, "NAME", name) : Change(number);
    request.prepare_payload();
    return request;
  }

  static std::string Change(int number) {
    return fmt::format(R"({{"metadata":{{"annotations":{{"bench/change":"{:08}"}}}}}})", number);
  }

  asio::awaitable<void> Exchange(Stream& stream, beast::flat_buffer& buffer,
                                 const Request& request) {
    co_await http::async_write(stream, request, use_awaitable);
    http::response_parser<http::string_body> parser;
    parser.body_limit(std::uint64_t{1} << 32);
    co_await http::async_read(stream, buffer, parser, use_awaitable);
    if (parser.get().result_int() >= 300) {
      throw std::runtime_error(fmt::format("{} {}: {}", std::string(request.method_string()),
                                           std::string(request.target()), parser.get().body()));
    }
    bytes_ = parser.get().body().size();
  }

  // `count` operations, shared by the connections, which are all open before the first.
  asio::awaitable<void> Operate() {
    std::vector<std::unique_ptr<Stream>> streams;
    streams.reserve(static_cast<std::size_t>(settings_.connections));
    for (int i = 0; i < settings_.connections; ++i) streams.push_back(co_await Connect());
    begin_ = Clock::now();
    running_ = settings_.connections;
    for (auto& stream : streams) {
      asio::co_spawn(io_, Worker(std::move(stream)), [this](std::exception_ptr trouble) {
        if (trouble && !trouble_) trouble_ = trouble;
        if (--running_ == 0 || trouble) io_.stop();
      });
    }
  }

  asio::awaitable<void> Worker(std::unique_ptr<Stream> stream) {
    beast::flat_buffer buffer;
    while (next_ < settings_.count) {
      const Request request = MakeRequest(settings_.first + next_++);
      const auto sent = Clock::now();
      co_await Exchange(*stream, buffer, request);
      end_ = Clock::now();
      times_.push_back(Milliseconds(end_ - sent));
    }
  }

  asio::awaitable<void> WatchAndChange() {
    const auto changer = co_await Connect();
    beast::flat_buffer buffer;
    for (int i = 0; i < settings_.connections; ++i) {
      asio::co_spawn(io_, Watch(co_await Connect()), [this](std::exception_ptr trouble) {
        if (trouble && !trouble_) trouble_ = trouble;
        if (trouble) io_.stop();
      });
    }
    asio::steady_timer pause(io_);
    while (watching_ < settings_.connections) {
      pause.expires_after(std::chrono::milliseconds(10));
      co_await pause.async_wait(use_awaitable);
    }
    begin_ = Clock::now();
    for (int change = 1; change <= settings_.count; ++change) {
      auto request = Prepare(http::verb::patch, settings_.path + "/" + Name(0));
      request.set(http::field::content_type, "application/merge-patch+json");
      request.body() = Change(change);
      request.prepare_payload();
      change_ = change;
      seen_ = 0;
      const auto sent = sent_ = Clock::now();
      co_await Exchange(*changer, buffer, request);
      while (seen_ < settings_.connections) {
        pause.expires_after(std::chrono::milliseconds(1));
        co_await pause.async_wait(use_awaitable);
        if (Clock::now() - sent > std::chrono::seconds(30)) {
          throw std::runtime_error(fmt::format("change {} reached {} of {} watches", change, seen_,
                                               settings_.connections));
        }
      }
      last_.push_back(Milliseconds(end_ - sent));
    }
    io_.stop();
  }

  asio::awaitable<void> Watch(std::unique_ptr<Stream> stream) {
    beast::flat_buffer buffer;
    const Request request = Prepare(
        http::verb::get,
        settings_.path + "?watch=true&resourceVersion=0&fieldSelector=metadata.name%3D" + Name(0));
    co_await http::async_write(*stream, request, use_awaitable);
    http::response_parser<http::buffer_body> parser;
    parser.body_limit(boost::none);
    co_await http::async_read_header(*stream, buffer, parser, use_awaitable);
    if (parser.get().result_int() != 200) throw std::runtime_error("a watch was refused");
    ++watching_;
    std::string line;
    std::array<char, 8192> block;
    while (!parser.is_done()) {
      parser.get().body().data = block.data();
      parser.get().body().size = block.size();
      beast::error_code error;
      co_await http::async_read_some(*stream, buffer, parser,
                                     asio::redirect_error(use_awaitable, error));
      if (error && error != http::error::need_buffer) throw beast::system_error(error);
      line.append(block.data(), block.size() - parser.get().body().size);
      for (std::size_t end; (end = line.find('\n')) != std::string::npos; line.erase(0, end + 1)) {
        See(std::string_view(line).substr(0, end));
      }
    }
    throw std::runtime_error("a watch ended");
  }

  void See(std::string_view event) {
    constexpr std::string_view kMark = R"("bench/change":")";
    const std::size_t at = event.find(kMark);
    if (change_ == 0) return;  // the state when the watch began
    if (at == std::string_view::npos) return;
    if (std::atoi(std::string(event.substr(at + kMark.size(), 8)).c_str()) != change_) return;
    end_ = Clock::now();
    times_.push_back(Milliseconds(end_ - sent_));
    ++seen_;
  }

  void Print() {
    std::sort(times_.begin(), times_.end());
    std::sort(last_.begin(), last_.end());
    timespec cpu{};
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &cpu);
    const double seconds = Milliseconds(end_ - begin_) / 1000;
    fmt::print(
        R"({{"count":{},"seconds":{:.6f},"per_second":{:.1f},"p50_ms":{:.3f},"p99_ms":{:.3f},)"
        R"("max_ms":{:.3f},"last_p50_ms":{:.3f},"bytes":{},"client_cpu_s":{:.3f}}})"
        "\n",
        times_.size(), seconds, static_cast<double>(times_.size()) / seconds,
        Percentile(times_, 50), Percentile(times_, 99), Percentile(times_, 100),
        Percentile(last_, 50), bytes_,
        static_cast<double>(cpu.tv_sec) + static_cast<double>(cpu.tv_nsec) / 1e9);
  }

  const Settings settings_;
  std::string host_, port_, token_, body_;
  asio::io_context io_{1};
  asio::ssl::context context_{asio::ssl::context::tls_client};
  std::exception_ptr trouble_;
  Clock::time_point begin_, end_, sent_;
  std::vector<double> times_, last_;
  std::size_t bytes_ = 0;
  int next_ = 0;
  int running_ = 0;
  int watching_ = 0;
  int change_ = 0;
  int seen_ = 0;
};

}  // namespace
}  // namespace pondage::bench

int main(int argc, char** argv) {
  pondage::bench::Settings settings;
  CLI::App app{"Loads an API server."};
  app.add_option("--server", settings.server)->required();
  app.add_option("--ca", settings.ca)->required();
  app.add_option("--token", settings.token_file)->required();
  app.add_option("--path", settings.path)->required();
  app.add_option("--body", settings.body_file);
  app.add_option("--connections", settings.connections)->check(CLI::Range(1, 10'000));
  app.add_option("--count", settings.count)->check(CLI::Range(1, 10'000'000));
  app.add_option("--first", settings.first)->check(CLI::Range(0, 10'000'000));
  app.add_flag("--table", settings.table);
  app.add_option("verb", settings.verb)
      ->required()
      ->check(CLI::IsMember({"create", "get", "list", "patch", "watch"}));
  CLI11_PARSE(app, argc, argv);
  try {
    pondage::bench::Load(std::move(settings)).Run();
  } catch (const std::exception& trouble) {
    fmt::print(stderr, "bench_load: {}\n", trouble.what());
    return 1;
  }
  return 0;
}
