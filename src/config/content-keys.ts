import { absoluteUrl, blobPlace, mediaType } from './address-kinds.ts'
import { boolean, bytes, integer, text } from './kinds.ts'

/** Files and the room they may take (interface 8, D7). */
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
    help: 'Quota of a context that has none of its own.',
  }),
  'service.data.max-file-size': bytes({
    min: 0,
    default: -1,
    unlimited: 'no limit',
    help: 'Largest uploaded file, whether quota is on or off.',
  }),
  'service.data.inline-types.<n>': mediaType({
    help: 'Media types with active content (HTML, SVG, PDF…) that are shown in the browser all the same.',
  }),
} as const

/** Contexts, entries and search. */
export const repositoryKeys = {
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
    help: 'Keep every version of metadata, and tell of them in `info`.',
  }),
  'service.repository.public-info': boolean({
    default: false,
    help: 'Let everybody read the `info` of every entry: names and sizes of files, access lists, creators, dates.',
  }),
  'service.repository.max-statements': integer({
    min: 1,
    max: 1_000_000,
    default: 50_000,
    help: 'Largest number of statements of one graph.',
  }),
  'service.solr.max-limit': integer({
    min: 1,
    max: 100_000,
    default: 100,
    help: 'Most results of one search request.',
  }),
} as const
