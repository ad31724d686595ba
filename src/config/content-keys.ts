import { absoluteUrl, blobPlace, mediaType } from './address-kinds.ts'
import { boolean, bytes, choice, text } from './kinds.ts'

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
  'service.data.max-file-size': bytes({
    sameOnAllNodes: true,
    min: 0,
    default: -1,
    unlimited: 'no limit',
    help: 'Largest uploaded file, whether quota is on or off.',
  }),
  'service.data.inline-types.<n>': mediaType({
    help: 'Media types with active content (HTML, SVG, PDF…) that are shown in the browser all the same.',
  }),
} as const

/** Contexts and entries. */
export const repositoryKeys = {
  'service.names.visible-to': choice(['users', 'shared', 'nobody'], {
    sameOnAllNodes: true,
    default: 'users',
    help:
      'Whose names and e-mail addresses signed-in users find: the names of all `users`, of the users with whom they have a group or a ' +
      'context in common (`shared`), or of `nobody`. They find a user or group by its exact name in any case.',
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
    help: 'PostgreSQL database, 15 or later, which several nodes may share. The nodes then also share the files, in a bucket (`service.data.store`) or in a common `service.data.folder`.',
  }),
  'service.repository.store.init-with-test-data': boolean({
    default: false,
    warn: { code: 'test-users', text: 'is on: users with well-known passwords are created' },
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
} as const
