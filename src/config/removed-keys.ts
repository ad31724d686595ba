/** Keys of the core that were settings once, each with a clause that says what happens instead. Placeholders are those of the rows. */
export const removedFromCore: Readonly<Record<string, string>> = {
  'service.data.low-space':
    'the service warns below 1 GiB of free space, on a small disk below a fifth of it; for other limits set an alarm on stowage_disk_free_bytes',
  'service.data.reserved-space':
    'new data are refused below 64 MiB of free space, on a small disk below a twentieth of it',
  'service.auth.password.argon2.iterations':
    'a password hash has two passes; to make guessing slower, raise `service.auth.password.argon2.memory`',
  'service.auth.password.argon2.parallelism': 'a password hash has one lane',
  'service.auth.password.hash.concurrency': 'as many passwords are hashed at once as there are processors, 2 to 8',
  'service.auth.password.hash.queue': 'a hundred sign-ins for each hash at once may wait, and further ones get 503',
  'service.auth.clear-site-data':
    'at a sign-out over https browsers delete the storage of the origin, if the base address has no path',
  'service.http.threads':
    'a process answers with one thread; for more cores, start several processes on PostgreSQL and Redis (docs/how-to/several-nodes.md)',
  'service.http.body.minimum-rate': 'a body that comes slower than 512 bytes per second is given up',
  'service.http.client-address-header':
    'the address of the client comes from `X-Forwarded-For`, as far as `service.http.trusted-proxies.<n>` trusts it (docs/how-to/reverse-proxy.md)',
  'service.repository.max-statements': 'a graph has at most 25,000 statements',
  'service.cors.max-age': 'a browser may cache the response to a preflight request for two hours',
}
