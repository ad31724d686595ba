import java.net.*;
import java.nio.charset.StandardCharsets;

/** Reads an address with an {@code Authenticator}, which sends name and password when it is asked for them. */
class BasicClient {
  public static void main(String[] args) throws Exception {
    Authenticator.setDefault(new Authenticator() {
      protected PasswordAuthentication getPasswordAuthentication() {
        return new PasswordAuthentication(args[1], args[2].toCharArray());
      }
    });
    byte[] body = new URL(args[0]).openConnection().getInputStream().readAllBytes();
    System.out.println(new String(body, StandardCharsets.UTF_8));
  }
}
