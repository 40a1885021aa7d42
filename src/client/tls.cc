#include "client/tls.h"

#include <fmt/core.h>

#include <boost/asio/ip/address.hpp>

namespace pondage::client {

boost::system::error_code SetUpTls(boost::asio::ssl::context& context, const ServerPlace& place) {
  boost::system::error_code error;
  if (place.skip_verify) {
    context.set_verify_mode(boost::asio::ssl::verify_none, error);
  } else {
    context.set_verify_mode(boost::asio::ssl::verify_peer, error);
    if (place.ca_pem.empty()) {
      context.set_default_verify_paths(error);
    } else if (!error) {
      context.add_certificate_authority(boost::asio::buffer(place.ca_pem), error);
    }
  }
  if (!error && !place.client_cert_pem.empty()) {
    context.use_certificate_chain(boost::asio::buffer(place.client_cert_pem), error);
    if (!error) {
      context.use_private_key(boost::asio::buffer(place.client_key_pem),
                              boost::asio::ssl::context::pem, error);
    }
  }
  return error;
}

std::string TlsReason(SSL* ssl, const boost::system::error_code& error) {
  const long verdict = ssl == nullptr ? X509_V_OK : SSL_get_verify_result(ssl);
  if (verdict != X509_V_OK) {
    return fmt::format("its certificate is not accepted: {}",
                       X509_verify_cert_error_string(verdict));
  }
  return error.message();
}

void ExpectHost(SSL* ssl, const std::string& host) {
  boost::system::error_code not_an_address;
  boost::asio::ip::make_address(host, not_an_address);
  if (not_an_address) {
    SSL_set_tlsext_host_name(ssl, host.c_str());
    SSL_set1_host(ssl, host.c_str());
  } else {
    X509_VERIFY_PARAM_set1_ip_asc(SSL_get0_param(ssl), host.c_str());
  }
}

}  // namespace pondage::client
