import { absoluteUrl, blobPlace, mediaType } from './address-kinds.ts'
import { boolean, bytes, duration, integer, text } from './kinds.ts'

/** Files and the storage they may use (I8, D7). */
export const fileKeys = {
  'service.data.folder': text({
    default: 'data',
    expects: 'the path of a folder',
    help: 'Folder of the database and the uploaded files.',
  }),
  'service.data.store': blobPlace({
    default: 'folder',
    help: 'Where uploaded files are kept: in `service.data.folder`, or in a bucket of an S3 server.',
  }),
  'service.data.quota': boolean({ default: false, help: 'Limit the bytes of uploaded files of each context.' }),
  'service.data.quota.default': bytes({
    min: 0,
    default: -1,
    unlimited: 'no limit',
    help: 'Quota of a context without its own quota.',
  }),
  'service.data.max-file-size': bytes({
    min: 0,
    default: -1,
    unlimited: 'no limit',
    help: 'Largest uploaded file, whether quota is on or off.',
  }),
  'service.data.low-space': bytes({
    min: 0,
    default: 2 ** 30,
    help: 'Free space on the disk of the data folder below which the service warns; at most a fifth of the disk counts.',
  }),
  'service.data.reserved-space': bytes({
    min: 0,
    default: 2 ** 26,
    help: 'Free space that only deletions may use: below it new data are rejected (507); at most a twentieth of the disk counts.',
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

/** Contexts, entries and search. */
export const repositoryKeys = {
  'service.trash.days': integer({
    min: 0,
    max: 3650,
    default: 30,
    help: 'Days after which entries in the trash are deleted permanently; 0 keeps them until a user deletes them.',
  }),
  'service.public-links': boolean({
    default: true,
    help: 'Users may create public links to files and folders. Off: existing links do not work either.',
  }),
  'service.nonadmin.group-context-creation': boolean({
    default: false,
    help: 'Let users who are not administrators create groups together with a context.',
  }),
  'service.repository.store.url': absoluteUrl({
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
    default: false,
    help: 'Keep every version of metadata, and list the versions in `info`.',
  }),
  'service.repository.public-info': boolean({
    default: false,
    help: 'Let every caller, including guests, read the `info` of every entry: names and sizes of files, access lists, creators, dates.',
  }),
  'service.repository.max-statements': integer({
    min: 1,
    max: 1_000_000,
    default: 50_000,
    help: 'Maximum number of statements in one graph.',
  }),
  'service.solr.max-limit': integer({
    min: 1,
    max: 100_000,
    default: 100,
    help: 'Maximum number of results of one search request.',
  }),
} as const
