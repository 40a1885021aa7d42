// The TLS of a connection to a server: whose certificates are believed, and why one was not.
//
// Pure but for OpenSSL's own state; any thread. Only for sources that see Asio.
#pragma once

#include <openssl/ssl.h>

#include <boost/asio/ssl/context.hpp>
#include <boost/system/error_code.hpp>
#include <string>

#include "client/kubeconfig.h"

namespace pondage::client {

boost::system::error_code SetUpTls(boost::asio::ssl::context& context, const ServerPlace& place);
// The name or address that the certificate must be for.
void ExpectHost(SSL* ssl, const std::string& host);
// Why a handshake failed, for people.
std::string TlsReason(SSL* ssl, const boost::system::error_code& error);

}  // namespace pondage::client
