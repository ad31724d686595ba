"""Reads an address with urllib, which sends name and password when it is asked for them."""
import sys
import urllib.request

url, name, password = sys.argv[1:]
manager = urllib.request.HTTPPasswordMgrWithDefaultRealm()
manager.add_password(None, url, name, password)
opener = urllib.request.build_opener(urllib.request.HTTPBasicAuthHandler(manager))
print(opener.open(url).read().decode())
