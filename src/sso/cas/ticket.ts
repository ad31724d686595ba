/**
 * Whether the text is a service ticket. Only characters that need no escaping anywhere. Longer and with more characters than the
 * protocol has: Shibboleth and Keycloak make such tickets (apereo/mod_auth_cas#134, #222). A proxy's ticket (`PT-`) is refused (D9.2).
 */
export const isTicket = (text: string): boolean => /^ST-[A-Za-z0-9._-]{1,1024}$/.test(text)
