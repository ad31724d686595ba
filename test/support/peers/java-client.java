import java.io.InputStream;
import java.net.*;
import java.net.http.*;
import java.nio.charset.StandardCharsets;

/** Signs in, creates an entry, uploads a file, reads both and a feed, deletes the entry and signs out, with what the JDK does by default. */
class JavaClient {
  interface Client {
    String send(String method, String url, String type, String body) throws Exception;
  }

  public static void main(String[] args) throws Exception {
    String base = args[1], name = args[2], password = args[3], context = args[4];
    Client client = args[0].equals("HttpClient") ? new ByClient() : new ByConnection();
    String form = "auth_username=" + encode(name) + "&auth_password=" + encode(password);
    System.out.println(client.send("POST", base + "auth/cookie", "application/x-www-form-urlencoded", form));
    System.out.println(client.send("GET", base + "auth/user", null, null));
    System.out.println(client.send("POST", base + context + "?id=java", "application/json", "{}"));
    System.out.println(client.send("PUT", base + context + "/resource/java", "text/plain", "from Java"));
    System.out.println(client.send("GET", base + context + "/resource/java", null, null));
    System.out.println(client.send("GET", base + context + "/entry/java", null, null));
    System.out.println(client.send("GET", base + context + "?syndication=rss_2.0", null, null));
    System.out.println(client.send("DELETE", base + context + "/entry/java", null, null));
    System.out.println(client.send("GET", base + "auth/logout", null, null));
    System.out.println(client.send("GET", base + "_contexts/entry/" + context, null, null));
  }

  static String encode(String text) {
    return URLEncoder.encode(text, StandardCharsets.UTF_8);
  }

  static String line(int status, String body) {
    return (status + " " + body.replaceAll("\\s+", " ")).trim();
  }

  static class ByConnection implements Client {
    ByConnection() {
      CookieHandler.setDefault(new CookieManager());
    }

    public String send(String method, String url, String type, String body) throws Exception {
      HttpURLConnection connection = (HttpURLConnection) new URL(url).openConnection();
      connection.setRequestMethod(method);
      if (body != null) {
        connection.setRequestProperty("Content-Type", type);
        connection.setDoOutput(true);
        connection.getOutputStream().write(body.getBytes(StandardCharsets.UTF_8));
      }
      int status = connection.getResponseCode();
      InputStream stream = status < 400 ? connection.getInputStream() : connection.getErrorStream();
      return line(status, stream == null ? "" : new String(stream.readAllBytes(), StandardCharsets.UTF_8));
    }
  }

  static class ByClient implements Client {
    final HttpClient client = HttpClient.newBuilder().cookieHandler(new CookieManager()).build();

    public String send(String method, String url, String type, String body) throws Exception {
      HttpRequest.Builder request = HttpRequest.newBuilder(URI.create(url));
      if (type != null) request.header("Content-Type", type);
      request.method(method, body == null ? HttpRequest.BodyPublishers.noBody() : HttpRequest.BodyPublishers.ofString(body));
      HttpResponse<String> response = client.send(request.build(), HttpResponse.BodyHandlers.ofString());
      return line(response.statusCode(), response.body());
    }
  }
}
