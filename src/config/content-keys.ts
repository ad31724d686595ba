import { absoluteUrl, blobPlace, mediaType } from './address-kinds.ts'
import { boolean, bytes, choice, duration, integer, text } from './kinds.ts'

/** Files and the storage they may use (I8, D7). */
export const fileKeys = {
  'service.data.folder': text({
    default: 'data',
    expects: 'the path of a folder',
    help: 'Folder of the database and the uploaded files.',
  }),
  'service.data.store': blobPlace({
    sameOnAllNodes: true,
    default: 'folder',
    help: 'Where uploaded files are kept: in `service.data.folder`, or in a bucket of an S3 server.',
  }),
  'service.data.quota': boolean({
    sameOnAllNodes: true,
    default: false,
    help: 'Limit the uploaded files of contexts, users, groups of contexts and the store.',
  }),
  'service.data.quota.default': bytes({
    sameOnAllNodes: true,
    min: 0,
    default: -1,
    unlimited: 'no limit',
    help: 'Quota of a context without its own quota.',
  }),
  'service.data.quota.user-default': bytes({
    sameOnAllNodes: true,
    min: 0,
    default: -1,
    unlimited: 'no limit',
    help: 'Quota of a user without their own quota. It limits the files whose entry the user created.',
  }),
  'service.data.quota.provider-user-default': bytes({
    sameOnAllNodes: true,
    min: 0,
    unlimited: 'no limit',
    defaultText: '`service.data.quota.user-default`',
    help: 'The same for users whom a sign-on through an identity provider created.',
  }),
  'service.data.max-file-size': bytes({
    sameOnAllNodes: true,
    min: 0,
    default: -1,
    unlimited: 'no limit',
    help: 'Largest uploaded file, whether quota is on or off.',
  }),
  'service.data.low-space': bytes({
    min: 0,
    default: 2 ** 30,
    help: 'Free space on the disk of the data folder below which the service warns; on a small disk at most a fifth of it.',
  }),
  'service.data.reserved-space': bytes({
    min: 0,
    default: 2 ** 26,
    help: 'Free space that only deletions may use: below it new data are rejected (507); on a small disk at most a twentieth of it.',
  }),
  'service.upload.expires': duration({
    sameOnAllNodes: true,
    min: 60_000,
    default: 86_400_000,
    help: 'Time without received bytes after which a resumable upload is given up.',
  }),
  'service.data.verify-on-read': boolean({
    default: false,
    help: 'Compare the bytes of each download with the digest of the file; parts of files (ranges) are not verified.',
  }),
  'service.data.scrub-interval': duration({
    min: 0,
    default: 0,
    help: 'Read and verify each stored file in the background once in this time; 0 disables the verification.',
  }),
  'service.data.inline-types.<n>': mediaType({
    help: 'Media types with active content (HTML, SVG, PDF…) that are shown in the browser all the same.',
  }),
} as const

/** The pattern of a port: 1 to 65535. */
const PORT = '[1-9]\\d{0,3}|[1-5]\\d{4}|6[0-4]\\d{3}|65[0-4]\\d{2}|655[0-2]\\d|6553[0-5]'

/** The scan of files for viruses by ClamAV (D32.1). */
export const virusScanKeys = {
  'service.data.virus-scan': text({
    sameOnAllNodes: true,
    expects: '`host:port`, or the path of a Unix socket',
    matches: new RegExp(`^(/.+|(\\[[0-9a-fA-F:]+\\]|[^\\s/:]+):(${PORT}))$`),
    help: 'Where clamd listens. If set, it scans each file before the file is stored.',
  }),
  'service.data.virus-scan.failure': choice(['reject', 'store'], {
    sameOnAllNodes: true,
    default: 'reject',
    help: 'While clamd fails: `reject` uploads (503), or `store` files without a scan.',
  }),
  'service.data.virus-scan.max-size': bytes({
    sameOnAllNodes: true,
    min: 0,
    default: 25 * 2 ** 20,
    unlimited: 'no limit here',
    help: 'Larger files are not sent to clamd; at most its `StreamMaxLength`.',
  }),
  'service.data.virus-scan.large-files': choice(['reject', 'store'], {
    sameOnAllNodes: true,
    default: 'reject',
    help: 'Files too large for clamd: `reject` them (413), or `store` them without a scan.',
  }),
  'service.data.virus-scan.timeout': duration({
    min: 1,
    default: 120_000,
    help: 'How long clamd may neither accept bytes nor reply.',
  }),
  'service.data.virus-scan.concurrency': integer({
    min: 1,
    max: 1000,
    default: 4,
    help: 'Files that a process has scanned at once; others wait.',
  }),
} as const

/** Contexts, entries and search. */
export const repositoryKeys = {
  'service.trash.days': integer({
    sameOnAllNodes: true,
    min: 0,
    max: 3650,
    default: 30,
    help: 'Days after which entries in the trash are deleted permanently; 0 keeps them until a user deletes them.',
  }),
  'service.public-links': boolean({
    sameOnAllNodes: true,
    default: true,
    help: 'Users may create public links to files and folders. Off: existing links do not work either.',
  }),
  'service.names.visible-to': choice(['users', 'shared', 'nobody'], {
    sameOnAllNodes: true,
    default: 'users',
    help:
      'Whose names and e-mail addresses signed-in users find: those of all `users`, of those with whom they have a group or a ' +
      'context in common (`shared`), or of `nobody`. They find a user or group by its exact name in any case.',
  }),
  'service.contact': text({
    expects: 'an e-mail address, or the address of a web page (`https://…`)',
    matches: /^([^\s@<>/?]+@[^\s@<>/?]+|https?:\/\/\S+)$/,
    help: 'Where users without a context ask for one. The pages offer it to them as *Ask for a space*; everybody can read it.',
  }),
  'service.nonadmin.group-context-creation': boolean({
    default: false,
    help: 'Let users who are not administrators create groups together with a context.',
  }),
  'service.repository.store.url': absoluteUrl({
    live: 'credentials',
    protocols: ['postgres', 'postgresql'],
    credentials: true,
    defaultText: 'a file in `service.data.folder`',
    help: 'PostgreSQL database, 15 or later, which several nodes may share; they share `service.data.folder` as well then.',
  }),
  'service.repository.store.init-with-test-data': boolean({
    default: false,
    warn: 'is on: users with well-known passwords are created',
    help: 'Fill a new store with the users and contexts that client tests expect.',
  }),
  'service.repository.provenance': boolean({
    sameOnAllNodes: true,
    default: false,
    help: 'Keep every version of metadata, and list the versions in `info`.',
  }),
  'service.repository.public-info': boolean({
    sameOnAllNodes: true,
    default: false,
    help: 'Let every caller, including guests, read the `info` of every entry: names and sizes of files, access lists, creators, dates.',
  }),
  'service.repository.max-statements': integer({
    min: 1,
    max: 1_000_000,
    default: 25_000,
    help: 'Maximum number of statements in one graph.',
  }),
  'service.solr.max-limit': integer({
    min: 1,
    max: 100_000,
    default: 100,
    help: 'Maximum number of results of one search request.',
  }),
} as const
