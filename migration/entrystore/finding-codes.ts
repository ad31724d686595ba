interface Explanation {
  /** The finding in words, for one or many occurrences. */
  readonly text: string
  readonly advice: string
}

/** Findings that an import reports before it continues. The codes are stable. */
export const findingCodes = {
  'unreadable-statement': {
    text: 'Statements that are not RDF in their format were skipped.',
    advice: 'Look at the places named; if it matters, make a new backup in another format, for example N-Quads.',
  },
  'illegal-xml-character': {
    text: 'Literals hold characters that XML does not allow; they were kept.',
    advice: 'Nothing to do: EntryStore itself could not have restored this backup.',
  },
  'illegal-character': {
    text: 'Texts hold NUL or half a surrogate pair; each was replaced by U+FFFD.',
    advice: 'Correct the texts after the import if they are visible.',
  },
  'bad-iri': {
    text: 'IRIs are malformed: illegal characters were percent-encoded; statements with relative IRIs were skipped.',
    advice: 'Correct the entries named after the import.',
  },
  'bad-language-tag': {
    text: 'Literals have malformed language tags: underscores and blanks became hyphens, other tags were dropped.',
    advice: 'Set the language of the texts named after the import.',
  },
  'default-graph-statements': {
    text: 'Statements stand in no graph; EntryStore writes none, and they were not imported.',
    advice: 'Check that the file is a backup of EntryStore and that nobody has edited it.',
  },
  'orphan-graph': {
    text: 'Graphs belong to no entry that was imported; they were not imported.',
    advice: 'Usually remains of deleted entries. Keep the backup if you want to look at them later.',
  },
  'unknown-statement': {
    text: 'Statements in administrative graphs mean nothing there; they were not imported.',
    advice: 'Usually remains of older versions. A statement counts only in the graph that may state it.',
  },
  'entry-without-resource': {
    text: 'Entries do not name their resource; they were not imported.',
    advice: 'EntryStore cannot open them either. Delete them there, or add es:resource.',
  },
  'several-resources': {
    text: 'Entries name several resources; they were not imported, because any choice could be wrong.',
    advice: 'Remove all but one es:resource in the old store and make a new backup.',
  },
  'several-values': {
    text: 'Entries or users have several values where there is one; one was taken (dates: the latest change, the first creation).',
    advice: 'Check the entries named.',
  },
  'bad-value': {
    text: 'Values are not what their property needs; they were dropped.',
    advice: 'Set them again after the import if they matter.',
  },
  'bad-date': {
    text: 'Dates could not be read; another date of the entry or the date of the backup was taken.',
    advice: 'Nothing to do, unless the dates matter to you.',
  },
  'date-without-zone': {
    text: 'Dates have no time zone and were read as UTC.',
    advice: 'Run the import with --zone and the zone of the old server, for example --zone Europe/Stockholm.',
  },
  'foreign-resource': {
    text: 'Local entries name a resource other than their own; they were imported with their own.',
    advice: 'Check the entries named.',
  },
  'misplaced-type': {
    text: 'Entries call themselves user, group or context outside of the system context that holds these; imported as plain entries.',
    advice: 'Nothing to do: they had no effect in EntryStore either.',
  },
  'system-context-dropped': {
    text: 'System contexts other than _contexts and _principals were not imported.',
    advice: 'Older versions of EntryStore kept backups and portals there. Keep the backup.',
  },
  'system-entry-missing': {
    text: 'System users, groups or contexts are missing; they were made anew.',
    advice: 'Check that the backup is complete.',
  },
  'id-refused': {
    text: 'Entries or contexts have ids that an address of this service cannot hold; they were not imported.',
    advice: 'Give them another id in the old store and make a new backup.',
  },
  'not-in-index': {
    text: 'Entries are missing in the index of their context: EntryStore does not show them. They were imported.',
    advice: 'They may be deleted entries that came back. Delete those that nobody needs.',
  },
  'name-collision': {
    text: 'Names are equal after normalisation; the older one keeps the name, the other has none now.',
    advice: 'Give the users, groups or contexts named here a new name. Users without a name cannot sign in.',
  },
  'name-refused': {
    text: 'Names are empty, too long or hold characters that are not allowed; imported without a name.',
    advice: 'Give them a new name.',
  },
  'reserved-context-name': {
    text: 'Names of contexts are reserved addresses or the id of another context; imported without a name.',
    advice: 'Give the contexts a new name; their id stays and is unaffected.',
  },
  'unknown-hash': {
    text: 'Passwords are in a form that cannot be verified; these users have no password now.',
    advice: 'Set a new password for them, or let them use the reset by e-mail.',
  },
  'plain-secret': {
    text: 'Passwords from before 2013 were in plain text; they were hashed with argon2id.',
    advice: 'They stand in old backups in plain text: ask these users to choose a new password.',
  },
  'custom-key-collision': {
    text: 'Custom properties have the same key in lower case; the last one in alphabetical order was kept.',
    advice: 'Check the custom properties of these users.',
  },
  'external-id-moved': {
    text: 'External ids became the custom property "externalid".',
    advice: 'Nothing to do, unless an application reads the external id.',
  },
  'second-list': {
    text: 'Entries are members of several lists; each stays in the oldest one.',
    advice: 'An entry is in one list at most here. Move it if another list is the right one.',
  },
  'missing-member': {
    text: 'Members of lists and groups do not exist, or cannot be members; they were left out.',
    advice: 'Nothing to do: they were deleted in the old store.',
  },
  'duplicate-member': {
    text: 'Members stand in the same list or group twice; once is kept.',
    advice: 'Nothing to do.',
  },
  'list-circle': {
    text: 'Lists are inside themselves; they were taken out of the list that closes the circle.',
    advice: 'Move the lists named to where they belong.',
  },
  'unknown-principal': {
    text: 'Rights are granted to users or groups that do not exist; kept, and their ids will never be given again.',
    advice: 'Remove them from the access lists when convenient.',
  },
  'home-context-missing': {
    text: 'Home contexts do not exist; these users or groups have none now.',
    advice: 'Set a home context if an application needs one.',
  },
  'file-missing': {
    text: 'Entries have a size but no file.',
    advice: 'If the backup was made without files, name the data folder of EntryStore with --files.',
  },
  'file-orphan': {
    text: 'Files belong to no entry that can hold one; they were not imported.',
    advice: 'Usually remains of deleted entries. Keep the backup if you want to look at them later.',
  },
  'size-differs': {
    text: 'Files have another size than their entry says; the real size was taken.',
    advice: 'Compare a file named here with the one on the old server.',
  },
  'digest-differs': {
    text: 'Files are not the bytes of their .sha256; imported as they are.',
    advice: 'Either the file was replaced by a tool that writes no digest, or it is damaged: open it.',
  },
  'over-quota': {
    text: 'Contexts hold more than their quota: EntryStore does not enforce it. Everything is kept, growth is refused.',
    advice: 'Raise the quota of these contexts or let their owners tidy up.',
  },
  'revision-without-graph': {
    text: 'Revisions have no content in the provenance store; their date and author were kept, their content is empty.',
    advice: 'Back up the provenance store together with the repository and import again, or accept the loss.',
  },
  'revision-gap': {
    text: 'Revisions are not numbered without gaps; they were numbered anew.',
    advice: 'Nothing to do, unless something refers to a revision by number.',
  },
  'pipeline-not-run': {
    text: 'Pipelines were imported as graphs. Stowage runs only those of the type rowstore.',
    advice: 'For these, set `service.rowstore.url`. Run others elsewhere, if they are still needed.',
  },
  'tombstone-dropped': {
    text: 'Notes about deleted entries were not imported.',
    advice: 'Nothing to do. Ids of deleted users, groups and contexts stay taken.',
  },
} as const satisfies Readonly<Record<string, Explanation>>

export type FindingCode = keyof typeof findingCodes

/** Reasons why nothing can be imported. */
export const unusableCodes = {
  'no-backup':
    'Name the folder of one backup (it holds repository.xml or the like), the folder with several of them, or the folder of a native or memory store.',
  'no-repository-file':
    'The backup has a date but no quads: entrystore.backup.format names a format that EntryStore cannot write. Set it to N-Quads and make a new backup.',
  'backup-failed':
    'EntryStore says itself that this backup failed. Make a new one, or accept it with --accept backup-failed.',
  truncated:
    'The file was cut off, for example by a full disk. Make a new backup, or accept what is there with --accept truncated.',
  'damaged-file': 'Make a new backup, or take an older one.',
  'format-not-quads': 'Set entrystore.backup.format to TriX, N-Quads, TriG or BinaryRDF and make a new backup.',
  'rdf-star': 'EntryStore does not write such statements. Remove them and make a new backup.',
  'no-base': 'It holds no entry of the context _principals, so it is no backup of EntryStore, or only a part of one.',
  'two-bases':
    'The store was moved without rewriting its addresses. Rewrite one base address to the other in the backup (N-Quads and sed), then import again.',
  'base-differs': 'Leave --base out, or name the base address that the backup has.',
  running: 'Stop EntryStore first, or import a backup.',
  'broken-upgrade':
    'Start EntryStore once so that RDF4J can finish the upgrade of the store, stop it, and import again.',
  'not-an-export': 'Make a context export with EntryStore in its default format (TriG).',
} as const satisfies Readonly<Record<string, string>>

export const adviceFor = (code: string): string => (unusableCodes as Readonly<Record<string, string>>)[code] ?? ''
